/** If a server accepts a query and never responds, the wait ends, and the session with it, instead of lasting forever. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { limitResponseTime } from '../../src/postgres/response-deadline.js';
import { askForText } from '../../src/source/postgres/text-query.js';
import { createDatabase, type Database } from '../pipeline/shop.js';

const DEADLINE = 300;
const SILENCE = 'SELECT pg_sleep(60)';

let database: Database;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

const asKnexAsks = (client: pg.Client, text: string): Promise<pg.QueryResult> =>
  new Promise((resolve, reject) =>
    client.query(text, (error: Error | null, result: pg.QueryResult) => (error ? reject(error) : resolve(result))),
  );

const ways = {
  "Knex's queries": (client: pg.Client, text: string) => {
    limitResponseTime(client, DEADLINE);
    return asKnexAsks(client, text);
  },
  'the reading of rows': (client: pg.Client, text: string) =>
    askForText(client, { text, values: [] }, { budget: Infinity, within: DEADLINE }),
};

for (const [what, ask] of Object.entries(ways)) {
  it(`ends ${what} with an error`, async () => {
    const client = await connect();
    await expect(ask(client, SILENCE)).rejects.toThrow('Connection terminated');
    await expect(client.query('SELECT 1')).rejects.toThrow();
  });

  it(`does not disturb ${what} that is answered in time, or the session afterwards`, async () => {
    const client = await connect();
    expect((await ask(client, 'SELECT 1 AS one')).rows).toHaveLength(1);
    await new Promise((resolve) => setTimeout(resolve, 2 * DEADLINE));
    expect((await ask(client, 'SELECT 2 AS two')).rows).toHaveLength(1);
  });

  it(`passes on the server's error for ${what}`, async () => {
    await expect(ask(await connect(), 'SELECT nothing')).rejects.toMatchObject({ code: '42703' });
  });
}

/** A message of PostgreSQL's protocol. */
function message(type: string, body: string): Buffer {
  const bytes = Buffer.from(body, 'latin1');
  const head = Buffer.alloc(5);
  head.write(type, 'latin1');
  head.writeInt32BE(bytes.length + 4, 1);
  return Buffer.concat([head, bytes]);
}
const SIGNED_IN = Buffer.concat([message('R', '\0\0\0\0'), message('Z', 'I')]);
const REFUSED = message('E', 'SERROR\0C57014\0Mcancelled\0\0');

/** A server that signs everybody in, refuses the first statement of each session, and is gone in the middle of that. */
async function vanishing(): Promise<string> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write(SIGNED_IN);
      socket.once('data', () => socket.write(REFUSED));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `postgres://nobody@127.0.0.1:${(server.address() as AddressInfo).port}/none`;
}

it('ends a query that waits behind an unfinished error response', async () => {
  const client = new pg.Client({ connectionString: await vanishing(), ssl: false });
  client.on('error', () => undefined);
  await client.connect();
  limitResponseTime(client, DEADLINE);
  await expect(asKnexAsks(client, 'SELECT 1')).rejects.toMatchObject({ code: '57014' });
  await expect(asKnexAsks(client, 'ROLLBACK')).rejects.toThrow('Connection terminated');
});

it('ends a query that returns a promise', async () => {
  const client = await connect();
  limitResponseTime(client, DEADLINE);
  await expect(client.query(SILENCE)).rejects.toThrow('Connection terminated');
});
