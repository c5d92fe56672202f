/** Messages about a ledger's database that fails: enough to fix it, and no value of any row. */
import { connect, createServer, type AddressInfo } from 'node:net';
import type { Knex } from 'knex';
import { expect, inject, it } from 'vitest';
import { inLedger, openLedgerDatabase } from '../../src/ledger/database/connection.js';
import { inTransaction } from '../../src/ledger/database/statements.js';

it("gives the driver's message when a session breaks, without the values that were sent", async () => {
  const { hostname, port } = new URL(inject('postgresUrl'));
  const breaking = createServer((socket) => {
    const server = connect(Number(port), hostname);
    server.on('error', () => socket.destroy());
    socket.on('error', () => server.destroy());
    server.pipe(socket);
    socket.on('data', (data) => (data.includes('anna@example.com') ? socket.destroy() : server.write(data)));
    socket.on('close', () => server.destroy());
  });
  await new Promise<void>((listening) => breaking.listen(0, '127.0.0.1', listening));
  const url = new URL(inject('postgresUrl'));
  url.host = `127.0.0.1:${(breaking.address() as AddressInfo).port}`;
  const knex = openLedgerDatabase(url.href);

  const failed: unknown = await inLedger(() => knex.raw<object>('SELECT CAST(? AS text)', ['anna@example.com'])).catch(
    (error: unknown) => error,
  );

  await knex.destroy();
  breaking.close();
  expect(failed).toMatchObject({
    code: 'state_unreachable',
    message: "the ledger's database: Connection terminated unexpectedly",
  });
  expect(String((failed as Error).cause)).not.toContain('anna');
});

it('says why the server ended a session inside a transaction, not that the ROLLBACK failed then', async () => {
  const knex = openLedgerDatabase(inject('postgresUrl'));
  const transaction = inTransaction(knex, (trx) => trx.raw('SELECT pg_terminate_backend(pg_backend_pid())'));

  // 57P01: admin_shutdown
  await expect(inLedger(() => transaction)).rejects.toThrow("the ledger's database: code 57P01");
  await knex.destroy();
});

it('says that no session was available', async () => {
  const knex = openLedgerDatabase(inject('postgresUrl'));
  await knex.destroy();

  await expect(inLedger(() => knex.raw('SELECT 1'))).rejects.toThrow(
    "the ledger's database: Unable to acquire a connection",
  );
});

it('runs a transaction once more that the database has ended in favour of another one', async () => {
  const [one, other] = [openLedgerDatabase(inject('postgresUrl')), openLedgerDatabase(inject('postgresUrl'))];
  const bothHaveOne = barrier(2);
  let attempts = 0;
  /** Takes both locks, each transaction in another order. */
  const lock = (knex: Knex, first: number, second: number): Promise<void> =>
    inTransaction(knex, async (trx) => {
      attempts++;
      await trx.raw(`SET LOCAL deadlock_timeout = '10ms'`);
      await trx.raw('SELECT pg_advisory_xact_lock(40, ?)', [first]);
      await bothHaveOne();
      await trx.raw('SELECT pg_advisory_xact_lock(40, ?)', [second]);
    });

  try {
    await Promise.all([lock(one, 1, 2), lock(other, 2, 1)]);
  } finally {
    await Promise.all([one.destroy(), other.destroy()]);
  }

  expect(attempts).toBe(3);
});

/** Resolves once it was called so many times, and from then on at once. */
function barrier(calls: number): () => Promise<void> {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  let left = calls;
  return () => {
    if (--left <= 0) open();
    return opened;
  };
}
