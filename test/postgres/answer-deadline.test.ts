/** A server that accepts a question and never answers ends the wait, and the session with it, instead of holding it for ever. */
import pg from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { limitAnswers } from '../../src/postgres/answer-deadline.js';
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
    limitAnswers(client, DEADLINE);
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

  it(`leaves ${what} alone that are answered, and the session after them`, async () => {
    const client = await connect();
    expect((await ask(client, 'SELECT 1 AS one')).rows).toHaveLength(1);
    await new Promise((resolve) => setTimeout(resolve, 2 * DEADLINE));
    expect((await ask(client, 'SELECT 2 AS two')).rows).toHaveLength(1);
  });

  it(`hands on what the server says against ${what}`, async () => {
    await expect(ask(await connect(), 'SELECT nothing')).rejects.toMatchObject({ code: '42703' });
  });
}
