/** What is said of a state database that fails: enough to mend it, and no value of any row. */
import { connect, createServer, type AddressInfo } from 'node:net';
import { expect, inject, it } from 'vitest';
import { inState, openState } from '../../src/state/connection.js';
import { inTransaction } from '../../src/state/transaction.js';

it('says in the words of the driver that a session broke, without the values that were under way', async () => {
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
  const knex = openState(url.href);

  const failed: unknown = await inState(() => knex.raw<object>('SELECT CAST(? AS text)', ['anna@example.com'])).catch(
    (error: unknown) => error,
  );

  await knex.destroy();
  breaking.close();
  expect(failed).toMatchObject({
    code: 'state_unreachable',
    message: 'state database: Connection terminated unexpectedly',
  });
  expect(String((failed as Error).cause)).not.toContain('anna');
});

it('says why the server ended a session in the middle of a transaction, not that a ROLLBACK was impossible then', async () => {
  const knex = openState(inject('postgresUrl'));
  const transaction = inTransaction(knex, (trx) => trx.raw('SELECT pg_terminate_backend(pg_backend_pid())'));

  // 57P01: admin_shutdown
  await expect(inState(() => transaction)).rejects.toThrow('state database: code 57P01');
  await knex.destroy();
});

it('says that no session could be had', async () => {
  const knex = openState(inject('postgresUrl'));
  await knex.destroy();

  await expect(inState(() => knex.raw('SELECT 1'))).rejects.toThrow('state database: Unable to acquire a connection');
});
