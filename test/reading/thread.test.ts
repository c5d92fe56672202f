/** A source that a thread reads gives the same results as in this thread; built, as a worker runs it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { PartnerSyncError } from '../../src/domain/errors.js';
import type { OnRetry } from '../../src/domain/monitoring/retries.js';
import type { ReadPlan } from '../../src/domain/source/source.js';
import { freePort } from '../../src/embedded/ports.js';
import { openReader, type OpenReader, type Reader } from '../../src/reading/reader.js';
import { prepareMapping } from '../../src/reading/prepared-mapping.js';
import type * as threadReader from '../../src/reading/thread/start-reading-thread.js';
import { loadSync } from '../../src/mapping/load-sync.js';
import { syncFolder } from '../mapping/sync-on-disk.js';
import { createDatabase, type Database } from '../pipeline/shop.js';
import { build, DIST } from '../pipeline/worker-process.js';
import { ALL, plan } from '../source/reading.js';
import { createSlot, groupsFrom, keysOf, positionAfter, startSlotServer, type Slot } from '../source/slot-server.js';

const ROWS = 30_000;
const RANGE = { byCursor: false, bounds: ALL };
let database: Database;
let startReadingThread: typeof threadReader.startReadingThread;

beforeAll(async () => {
  await build();
  ({ startReadingThread } = (await import(
    `${DIST}/src/reading/thread/start-reading-thread.js`
  )) as typeof threadReader);
  database = await createDatabase();
  await database.query(
    `CREATE TABLE people (id bigint PRIMARY KEY, name text, tenant text);
     INSERT INTO people SELECT i, CASE WHEN i % 7 = 0 THEN 'Zoë "' || i || '" 😀' ELSE 'n' || i END,
       CASE WHEN i % 100 = 0 THEN 'nobody' WHEN i % 3 = 0 THEN 'b' ELSE 'a' END FROM generate_series(1, ${ROWS}) i`,
  );
});
afterAll(() => database.drop());

/** The sync's only mapping, and its source read here and in a thread. */
async function both() {
  const folder = syncFolder({
    'sync.yaml':
      'source:\n  client: pg\n  connection: ${env:SHOP_URL}\ntenant: { column: tenant, values: { a: tenant-a, b: tenant-b } }\n',
  });
  const { spec } = await loadSync(folder, 'shop', { SHOP_URL: database.url });
  if (spec.tenant.kind === 'table') throw new Error('the list of tenants is in the file');
  const thread = startReadingThread();
  const here = openReader(spec.source);
  const there = thread.openReader(spec.source);
  onTestFinished(async () => {
    await Promise.all([here.source.close(), there.source.close()]);
    await thread.close();
  });
  return { reading: prepareMapping(spec.mappings[0]!, spec.tenant), here, there, thread };
}

function chunksOf(reader: Reader, reading: ReturnType<typeof prepareMapping>) {
  let readSeqs = 0;
  return reader.chunks(reading, RANGE, () => Promise.resolve(String(++readSeqs)));
}

it('delivers the same chunks: records, dead letters, read sequence numbers and positions', async () => {
  const { reading, here, there } = await both();
  const seen = [];
  for (const reader of [here, there]) {
    const chunks = [];
    for await (const { records, failedRows, ...rest } of chunksOf(reader, reading))
      chunks.push({
        ...rest,
        failedRows: [...failedRows],
        records: records.map(({ tenant, externalId, sourceKey, json, contentHash }) => ({
          tenant,
          externalId,
          sourceKey,
          json,
          contentHash,
        })),
      });
    seen.push(chunks);
  }
  expect(seen[1]).toEqual(seen[0]);
  expect(seen[1]!.length).toBeGreaterThan(2);
  expect(seen[1]!.reduce((sum, g) => sum + g.records.length, 0)).toBe(ROWS - ROWS / 100);
  expect(seen[1]!.reduce((sum, g) => sum + g.failedRows.length, 0)).toBe(ROWS / 100);
});

it('answers as the source does, rows and errors', async () => {
  const { here, there } = await both();
  const read = plan('people', ['id'], null, ['name']);
  const gone: ReadPlan = plan('nowhere', ['id']);

  for (const of of [(r: Reader) => r.source.readPage(read, ALL, 50), (r: Reader) => r.source.splitKeys(read, 5_000)])
    expect(JSON.parse(JSON.stringify(await of(there), plainly))).toEqual(
      JSON.parse(JSON.stringify(await of(here), plainly)),
    );
  const found = await there.source.readByValues(read, ['id'], [['7'], ['8']]);
  expect([...found.rows]).toEqual([
    ['7', 'Zoë "7" 😀'],
    ['8', 'n8'],
  ]);
  expect(await codeOf(there.source.readPage(gone, ALL, 1))).toBe('source_relation_missing');
  expect(await codeOf(there.source.readByValues(read, ['id'], [['seven']]))).toBe(
    await codeOf(here.source.readByValues(read, ['id'], [['seven']])),
  );
});

it('reports the same error to all calls that begin while a source fails to open', async () => {
  const { thread } = await both();
  const { source } = thread.openReader({ connection: 'postgres://nobody:%ZZ', poolMax: 1, statementTimeout: 1 });
  const calls = () => [codeOf(source.server()), codeOf(source.tables())];
  expect(await Promise.all([...calls(), ...calls()])).toEqual(Array.from({ length: 4 }, () => 'config_invalid'));
  expect(await Promise.all(calls())).toEqual(['config_invalid', 'config_invalid']);
});

it('stops a reading that is cancelled, and one that throws while it takes a time', async () => {
  const { reading, there } = await both();
  for await (const _ of chunksOf(there, reading)) break;
  const chunks = there.chunks(reading, RANGE, () => Promise.reject(new Error('no time')));
  await expect(chunks.next()).rejects.toThrow('no time');
  expect((await there.source.readPage(plan('people', ['id']), ALL, 1)).rows.length).toBe(1);
});

it('reports an unreachable source if the thread dies, and continues in another one', async () => {
  const { reading, there, thread } = await both();
  const chunks = chunksOf(there, reading);
  await chunks.next();

  const next = codeOf(chunks.next());
  await thread.close();

  expect(await next).toBe('source_unreachable');
  for await (const { records } of chunksOf(there, reading)) {
    expect(records.at(0).externalId).toBe('1');
    break;
  }
});

/** The code of what it fails with: the build has a class of its own for our errors. */
const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no error',
    (error: unknown) => (error as PartnerSyncError).code,
  );

/** Rows are an array, or bytes that give one. */
const plainly = (name: string, value: unknown): unknown =>
  name === 'rows' ? [...(value as Iterable<unknown>)] : value;

it('tells of each read that failed, and since when, while it is repeated', async () => {
  const { thread } = await both();
  const nobody = { connection: `postgres://127.0.0.1:${await freePort()}/shop`, poolMax: 1, statementTimeout: 5 };
  const toldBy = async (open: OpenReader): Promise<Parameters<OnRetry>[]> => {
    const told: Parameters<OnRetry>[] = [];
    const { source } = open(nobody, (...failure) => told.push(failure));
    expect(await codeOf(source.server())).toBe('source_unreachable');
    await source.close();
    return told;
  };
  const twice = [
    ['source_unreachable', 0],
    ['source_unreachable', expect.any(Number)],
  ];
  expect(await toldBy(openReader)).toEqual(twice);
  expect(await toldBy(thread.openReader)).toEqual(twice);
});

it('reads a change feed, with the errors that it has in this thread, and ends it when it is left or given up', async () => {
  const server = await startSlotServer();
  onTestFinished(() => server.stop());
  const slot = await createSlot(server, 'CREATE TABLE orders (id int PRIMARY KEY)', { orders: 'id' });
  const thread = startReadingThread();
  onTestFinished(() => thread.close());
  const { source } = thread.openReader({ connection: slot.url, poolMax: 2, statementTimeout: 10 });
  onTestFinished(() => source.close());
  const feed = source.changes(slot.config);
  const start = await feed.begin();
  expect(await feed.state()).toMatchObject({ position: start, problem: null });
  await slot.query('INSERT INTO orders SELECT generate_series(1, 10000)');

  const groups = await groupsFrom(feed, start);
  for await (const { position } of feed.read(start, new AbortController().signal)) {
    expect(position).toBe(null);
    break;
  }
  await feed.confirm(positionAfter(groups, start));

  expect(keysOf(groups)).toHaveLength(10_000);
  await expect(groupsFrom(feed, start)).rejects.toMatchObject({ code: 'changes_lost' });
  await expect(source.changes({ kind: 'table', table: 't' }).begin()).rejects.toMatchObject({ code: 'changes_lost' });
  const position = await feed.begin();
  await slot.query('INSERT INTO orders SELECT generate_series(10001, 400000)');
  const controller = new AbortController();
  const reading = groupsFrom(feed, position, controller.signal);
  while (!(await isActive(slot))) await sleep(1);
  controller.abort(new Error('given up'));
  await expect(reading).rejects.toThrow('given up');
  while (await isActive(slot)) await sleep(5);
});

const isActive = async (slot: Slot): Promise<boolean> =>
  (await slot.query('SELECT FROM pg_replication_slots WHERE slot_name = $1 AND active', [slot.name])).length > 0;
