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
  const [knex, other] = [openLedgerDatabase(inject('postgresUrl')), openLedgerDatabase(inject('postgresUrl'))];
  const lock = (trx: Knex, no: number): PromiseLike<unknown> => trx.raw('SELECT pg_advisory_xact_lock(40, ?)', [no]);
  let [hasLock1, hasLock2] = [(): void => undefined, (): void => undefined];
  const lock1 = new Promise<void>((resolve) => (hasLock1 = resolve));
  const lock2 = new Promise<void>((resolve) => (hasLock2 = resolve));
  let attempts = 0;
  try {
    const others = inTransaction(other, async (trx) => {
      await trx.raw(`SET LOCAL deadlock_timeout = '1h'`);
      await lock(trx, 2);
      hasLock2();
      await lock1;
      await lock(trx, 1);
    });
    await inTransaction(knex, async (trx) => {
      attempts++;
      await trx.raw(`SET LOCAL deadlock_timeout = '1ms'`);
      await lock(trx, 1);
      hasLock1();
      await lock2;
      await lock(trx, 2);
    });
    await others;
  } finally {
    await Promise.all([knex.destroy(), other.destroy()]);
  }

  expect(attempts).toBe(2);
});
