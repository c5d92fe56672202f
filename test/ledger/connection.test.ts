/** Messages about a ledger's database that fails: enough to fix it, and no value of any row. */
import { connect, createServer, type AddressInfo } from 'node:net';
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
