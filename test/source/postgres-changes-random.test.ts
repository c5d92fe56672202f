/** Many writers at once against a reader of their slot: whoever reads each key when it is reported, misses nothing. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { seeded } from '../seeded.js';
import { createSlot, groupsFrom, positionAfter, startSlotServer, type Slot } from './slot-server.js';

const SEED = Number(process.env['TEST_SEED'] ?? 4711);
const WRITERS = 6;
const TRANSACTIONS = Number(process.env['TEST_ROUNDS'] ?? 1) * 300;
/** So many that most rows are not written again, which would cover a change that was missed. */
const KEYS = 2000;

/** One of several clients: random transactions over few keys, some of which are rolled back. */
async function write(slot: Slot, seed: number): Promise<void> {
  const random = seeded(seed);
  const client = await slot.connect();
  // Half of them wait for a standby that does not exist, after their commits were written to the log.
  await client.query(`SET synchronous_commit = ${seed % 2 === 0 ? 'on' : 'local'}`);
  for (let i = 0; i < TRANSACTIONS; i++) {
    // In the order of the keys, so that two writers do not wait for each other.
    const keys = Array.from({ length: 1 + random(3) }, () => random(KEYS)).toSorted((a, b) => a - b);
    await client.query('BEGIN');
    for (const id of new Set(keys)) {
      const mark = `${seed}/${i}`;
      // Each has a number of its own in the log.
      if (random(3) === 0) await client.query('SAVEPOINT one');
      if (random(4) === 0) await client.query('DELETE FROM orders WHERE id = $1', [id]);
      else
        await client.query('INSERT INTO orders VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET note = excluded.note', [
          id,
          mark,
        ]);
    }
    await client.query(random(8) === 0 ? 'ROLLBACK' : 'COMMIT');
  }
  await client.end();
}

it(`is told of every change at a moment when the row can be read, by seed ${SEED}`, async () => {
  const server = await startSlotServer({ synchronous_standby_names: 'nobody', synchronous_commit: 'local' });
  onTestFinished(() => server.stop());
  const slot = await createSlot(server, 'CREATE TABLE orders (id int PRIMARY KEY, note text)', { orders: 'id' });
  const random = seeded(SEED);
  let position = await slot.feed.begin();
  const copy = new Map<string, string>();
  const tables = async () =>
    new Map(
      (await slot.query<{ id: number; note: string }>('SELECT * FROM orders')).map(({ id, note }) => [`${id}`, note]),
    );

  async function readOnce(): Promise<void> {
    if (!(await slot.feed.mayHaveChanges(position))) return;
    const groups = await groupsFrom(slot.feed, position);
    const ids = new Set(groups.flatMap(({ rows }) => rows.flatMap(({ keys }) => keys.map(([id]) => id!))));
    const rows = await slot.query<{ id: number; note: string }>('SELECT * FROM orders WHERE id = ANY($1)', [[...ids]]);
    for (const id of ids) copy.delete(id);
    for (const { id, note } of rows) copy.set(`${id}`, note);
    position = positionAfter(groups, position);
    // Sometimes nothing is confirmed, as by a process that dies.
    if (random(10) > 0) await slot.feed.confirm(position);
  }

  let isWriting = true;
  const writing = Promise.all(Array.from({ length: WRITERS }, (_, i) => write(slot, SEED + i))).finally(() => {
    isWriting = false;
  });
  /** Lets those through that wait for the standby. */
  const releasing = (async () => {
    const client = await slot.connect();
    while (isWriting) {
      await client.query(
        `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
         WHERE wait_event = 'SyncRep' AND clock_timestamp() > state_change + interval '15 ms'`,
      );
      await sleep(2);
    }
    await client.end();
  })();
  let turns = 0;
  while (isWriting) {
    await readOnce();
    turns++;
    await sleep(random(5));
  }
  await Promise.all([writing, releasing]);
  await readOnce();

  expect(turns).toBeGreaterThan(3);
  expect(copy).toEqual(await tables());
});
