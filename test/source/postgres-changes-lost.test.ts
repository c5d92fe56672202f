/** Feeds whose changes are gone, or which cannot be read: what is wrong is said, and nothing is left out in silence. */
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { FeedPosition } from '../../src/domain/source/change-feed.js';
import {
  createSlot,
  dropSlot,
  groupsFrom,
  keysOf,
  startSlotServer,
  type Slot,
  type SlotServer,
} from './slot-server.js';
import { open } from './reading.js';

let server: SlotServer;

beforeAll(async () => {
  server = await startSlotServer();
});
afterAll(() => server.stop());

const orders = () => createSlot(server, 'CREATE TABLE orders (id int PRIMARY KEY)', { orders: 'id' }, 1);

/** A reading notices what is wrong. */
async function expectLost(slot: Slot, position: FeedPosition, why: RegExp): Promise<void> {
  const error = { code: 'changes_lost', message: expect.stringMatching(why) as string };
  await expect(groupsFrom(slot.feed, position)).rejects.toMatchObject(error);
}

const recreate = (slot: Slot) => slot.query(`SELECT pg_create_logical_replication_slot($1, 'pgoutput')`, [slot.name]);

it('notices that its slot was dropped', async () => {
  const slot = await orders();
  const start = await slot.feed.begin();
  await dropSlot(slot, slot.name);

  await expectLost(slot, start, /there is no slot "t_/);
  await expect(slot.feed.confirm(start)).rejects.toMatchObject({ code: 'changes_lost' });
  await expect(slot.feed.begin()).rejects.toMatchObject({ code: 'changes_lost' });
  expect(await slot.feed.state()).toMatchObject({
    position: null,
    problem: expect.stringMatching(/no slot/) as string,
  });
});

it('notices that its slot was created anew', async () => {
  const slot = await orders();
  const start = await slot.feed.begin();
  await dropSlot(slot, slot.name);
  await slot.query('INSERT INTO orders VALUES (1)');
  await recreate(slot);

  await expectLost(slot, start, /created anew, or somebody else reads it/);
});

it('notices that somebody else has advanced its slot', async () => {
  const slot = await orders();
  const start = await slot.feed.begin();
  await slot.query('INSERT INTO orders VALUES (1)');
  await slot.query(
    `SELECT count(*) FROM pg_logical_slot_get_binary_changes('${slot.name}', NULL, NULL,
       'proto_version', '1', 'publication_names', '${slot.name}')`,
  );

  await expectLost(slot, start, /somebody else reads it/);
});

it('notices that its publication was dropped, or created anew', async () => {
  const slot = await orders();
  const start = await slot.feed.begin();
  await slot.query(`DROP PUBLICATION ${slot.name}`);
  await expectLost(slot, start, /no publication "t_/);

  await slot.query('INSERT INTO orders VALUES (1)');
  await slot.query(`CREATE PUBLICATION ${slot.name} FOR TABLE orders`);
  await expectLost(slot, start, /is another one than before/);
});

it('notices that its slot is older than the publication, whose changes until then are not reported', async () => {
  const slot = await orders();
  await slot.query(`DROP PUBLICATION ${slot.name}`);
  await dropSlot(slot, slot.name);
  await recreate(slot);
  await slot.query('INSERT INTO orders VALUES (1)');
  await slot.query(`CREATE PUBLICATION ${slot.name} FOR TABLE orders`);
  await slot.query('INSERT INTO orders VALUES (2)');

  await expectLost(slot, await slot.feed.begin(), /from before its publication was created/);
});

it('notices that it is connected to another database, or another server', async () => {
  const [slot, other] = [await orders(), await orders()];
  const start = await slot.feed.begin();
  const elsewhere = other.source.changes(slot.config);

  await expect(groupsFrom(elsewhere, start)).rejects.toMatchObject({
    code: 'changes_lost',
    message: expect.stringMatching(/belongs to the database "t_.*; "t_.* was expected/) as string,
  });
  const [system, ...rest] = start.origin.split(':');
  const foreign = { origin: [`${BigInt(system!) + 1n}`, ...rest].join(':'), at: start.at };
  await expectLost(slot, foreign, /is another one than before/);
  await expect(slot.feed.confirm(foreign)).rejects.toMatchObject({ code: 'changes_lost' });
});

it('notices that the server is at an earlier place than the feed', async () => {
  const slot = await orders();
  const { origin } = await slot.feed.begin();
  await expectLost(slot, { origin, at: 'FF/0' }, /gone back to an earlier state/);
});

it('says what is wrong with a publication that leaves something out, and notices it also once that is corrected', async () => {
  const slot = await orders();
  const start = await slot.feed.begin();
  await slot.query(`ALTER PUBLICATION ${slot.name} SET (publish = 'insert, truncate')`);
  await expect(groupsFrom(slot.feed, start)).rejects.toMatchObject({
    code: 'config_invalid',
    message: expect.stringMatching(/does not publish: update, delete; ALTER PUBLICATION/) as string,
  });
  await slot.query(`ALTER PUBLICATION ${slot.name} SET (publish = 'insert, update, delete, truncate')`);
  await slot.query(`ALTER PUBLICATION ${slot.name} DROP TABLE orders`);
  await expect(slot.feed.begin()).rejects.toThrow('has no tables');
  await slot.query(`ALTER PUBLICATION ${slot.name} ADD TABLE orders`);
  // What was deleted meanwhile, nobody was told.
  await expectLost(slot, start, /is another one than before, or was altered/);
  const again = await slot.feed.begin();
  await slot.query('INSERT INTO orders VALUES (1)');
  expect(keysOf(await groupsFrom(slot.feed, again))).toEqual(['orders:1']);
});

it('refuses a publication that leaves out rows', async (context) => {
  if (server.version < 15) context.skip('publications can leave out rows since PostgreSQL 15');
  const slot = await orders();
  await slot.query(`ALTER PUBLICATION ${slot.name} SET TABLE orders WHERE (id > 5)`);
  expect((await slot.feed.state()).problem).toMatch(/leaves out rows of public\.orders/);
});

it('refuses a slot of another plugin', async () => {
  const slot = await orders();
  await dropSlot(slot, slot.name);
  await slot.query(`SELECT pg_create_physical_replication_slot($1)`, [slot.name]);
  expect((await slot.feed.state()).problem).toMatch(/is one of physical replication; pgoutput was expected/);
});

it('refuses a slot that reports transactions that are only prepared', async (context) => {
  if (server.version < 14) context.skip('slots can do so since PostgreSQL 14');
  const slot = await orders();
  await dropSlot(slot, slot.name);
  await slot.query(`SELECT pg_create_logical_replication_slot('${slot.name}', 'pgoutput', false, true)`);
  expect((await slot.feed.state()).problem).toMatch(/create it without two_phase/);
});

it('says that the account lacks a privilege, without a value of a row', async () => {
  const slot = await orders();
  await slot.query(`CREATE ROLE ${slot.name} LOGIN PASSWORD 'r'`);
  const start = await slot.feed.begin();
  const source = open(Object.assign(new URL(slot.url), { username: slot.name, password: 'r' }).href);
  try {
    const reader = source.changes(slot.config);
    expect(await reader.state()).toMatchObject({ problem: null, position: { origin: start.origin } });
    await expect(groupsFrom(reader, start)).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringMatching(/reading the slot failed \(SQLSTATE 42501: the account lacks/) as string,
    });
  } finally {
    await source.close();
    await slot.query(`DROP ROLE ${slot.name}`);
  }
});

it('notices that the server has given up its slot, because it kept too much for it', async (context) => {
  if (server.version < 13) context.skip('the server keeps everything before PostgreSQL 13');
  const small = await startSlotServer({ max_slot_wal_keep_size: '1MB', min_wal_size: '32MB', max_wal_size: '32MB' });
  onTestFinished(() => small.stop());
  const slot = await createSlot(small, 'CREATE TABLE orders (id int PRIMARY KEY)', { orders: 'id' });
  const start = await slot.feed.begin();
  const before = await slot.feed.state();
  await slot.query('INSERT INTO orders VALUES (1)');
  await slot.query('CREATE TABLE filling (text text)');
  for (let i = 0; i < 4; i++) {
    await slot.query(`INSERT INTO filling SELECT repeat('x', 1000) FROM generate_series(1, 20000)`);
    await slot.query('SELECT pg_switch_wal()');
    await slot.query('CHECKPOINT');
  }

  expect(before.bytesLeft).toBeGreaterThan(0);
  await expectLost(slot, start, /has given up the slot/);
});
