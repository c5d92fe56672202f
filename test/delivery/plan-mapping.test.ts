/** Planning is repeated by other attempts and for other passes; whichever comes first decides what the run reads. */
import { expect, it } from 'vitest';
import { planMapping } from '../../src/delivery/run/plan-mapping.js';
import type { Dependencies } from '../../src/delivery/dependencies.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { ledgerForTests } from '../ledger/ledger-for-tests.js';
import { newRun } from '../ledger/new-partition.js';

const the = ledgerForTests();

const READ = { relation: { query: 'SELECT 1' }, cursor: 'changed' };

/** A sync whose source has a higher high watermark, and more partitions, each time it is asked. */
async function growingSource(ledger: () => Ledger = () => the.ledger, feed: string | null = null) {
  let asked = 0;
  const source = {
    hasNull: () => Promise.resolve(false),
    describe: () => Promise.resolve([{ name: 'changed', type: 'bytes', databaseType: 'rowversion' }]),
    cursorMinus: (_plan: unknown, cursor: string, seconds: number) => Promise.resolve(`${cursor} - ${seconds}`),
    highWatermark: () => Promise.resolve(String(++asked)),
    splitKeys: () => {
      const ends = Array.from({ length: ++asked }, (_, i) => [String(i)]);
      return Promise.resolve([null, ...ends].map((after, i) => ({ after, through: ends[i] ?? null })));
    },
  };
  const spec = {
    options: { ledger: 'full' },
    relation: READ.relation,
    cursor: { column: 'changed', overlap: 60 },
    feed,
    schema: { externalIdField: 'customerId' },
    fields: new Map(),
  };
  const deps = {
    get ledger() {
      return ledger();
    },
    openSync: () =>
      Promise.resolve({
        source,
        spec: { name: 'shop', version: 'v1', guard: null },
        mapping: () => Promise.resolve({ mappingId: the.mappingId, spec, plan: READ }),
        tenantRule: () => Promise.resolve({ kind: 'constant', tenant: 'north' }),
      }),
  } as unknown as Dependencies;
  const runId = await newRun(the.ledger, { kind: 'sync', mode: 'incremental' });
  const plan = (mode: string, firstPass: boolean) =>
    planMapping(deps, { runId, sync: 'shop', mapping: 'customers', mode, input: { sync: 'shop' }, firstPass });
  const boundsOf = (kind: 'planned' | 'first_pass') =>
    the.database.query(
      `SELECT id, cursor_from, cursor_before, after_key, through_key, moves_position FROM partner_sync.partitions WHERE run_id = $1 AND kind = $2 ORDER BY no`,
      [runId, kind],
    );
  return { runId, plan, boundsOf };
}

/** What a partition reads. */
const readBounds = ({ id: _id, moves_position: _moves, ...bounds }: Record<string, unknown>) => bounds;

it('reads as far in the first of two passes as in the second, whichever is planned first', async () => {
  for (const order of [
    [true, false],
    [false, true],
  ]) {
    const { plan, boundsOf } = await growingSource();
    for (const firstPass of order) await plan('incremental', firstPass);

    expect(await boundsOf('planned')).toMatchObject([{ cursor_before: '1' }]);
    expect((await boundsOf('first_pass')).map(readBounds)).toEqual((await boundsOf('planned')).map(readBounds));
  }
});

it('reads as far in both passes if the attempt that planned them died on its way', async () => {
  let writes = 0;
  const dying = (): Ledger => ({
    ...the.ledger,
    partitions: Object.fromEntries(
      Object.entries(the.ledger.partitions).map(([name, method]) => [
        name,
        (...args: unknown[]): unknown => {
          if (name.startsWith('plan') && name !== 'planned' && ++writes === 2) throw new Error('killed');
          return (method as (...args: unknown[]) => unknown)(...args);
        },
      ]),
    ) as unknown as Ledger['partitions'],
  });
  const { plan, boundsOf } = await growingSource(dying);

  await plan('incremental', true).catch(() => undefined);
  await plan('incremental', true);

  expect((await boundsOf('first_pass')).map(readBounds)).toEqual((await boundsOf('planned')).map(readBounds));
});

it('reads the overlap first, by itself and without moving the position, which must not go back', async () => {
  const before = await growingSource();
  await before.plan('incremental', false);
  await the.database.query(
    `INSERT INTO partner_sync.positions (mapping_id, cursor, reads, run_id) SELECT mapping_id, '100', reads, run_id
     FROM partner_sync.partitions WHERE run_id = $1`,
    [before.runId],
  );
  const { plan, boundsOf } = await growingSource();

  const { partitions, concurrency } = await plan('incremental', false);

  expect(concurrency).toBe(1);
  expect(await boundsOf('planned')).toMatchObject([
    { id: partitions[0]!.id, cursor_from: '100 - 60', cursor_before: '100', moves_position: false },
    { id: partitions[1]!.id, cursor_from: '100', cursor_before: '1', moves_position: true },
  ]);
});

it('goes on with a load that was stopped, and then with what has changed since, as one plan', async () => {
  const { feeds, partitions, runs } = the.ledger;
  const feed = await feeds.acquire('shop', 'feed');
  await feeds.begin(feed, { origin: 'one', at: '10' });
  await feeds.feedMappings(feed, [{ mappingId: the.mappingId, reads: 'customers' }]);
  await feeds.note(feed, [], null, true);
  const first = await growingSource(undefined, 'feed');
  const { partitions: all } = await first.plan('incremental', false);
  expect(all.length).toBeGreaterThan(1);
  await partitions.finish(await partitions.acquire(all[0]!.id));
  await runs.end(first.runId, 'incomplete');
  await feeds.note(feed, [{ mappingId: the.mappingId, keys: [['1']], unnamed: null }], null, true);

  const second = await growingSource(undefined, 'feed');
  const planned = await second.plan('incremental', false);

  const bounds = await second.boundsOf('planned');
  expect(bounds.map(readBounds)).toEqual((await first.boundsOf('planned')).slice(1).map(readBounds));
  expect(planned.partitions.map(({ id }) => id)).toEqual(bounds.map(({ id }) => String(id)));
  expect(planned.next).toMatchObject([{ label: 'changed rows' }]);
  for (const { id } of bounds) await partitions.finish(await partitions.acquire(String(id)));
  expect(await second.plan('incremental', false)).toMatchObject({ partitions: planned.next });
  expect(await feeds.mapping(the.mappingId)).toMatchObject({ loaded: true });
});

it('reads each row once if two attempts plan side by side', async () => {
  const { plan, boundsOf } = await growingSource();

  await Promise.all([plan('full', false), plan('full', false)]);

  const bounds = await boundsOf('planned');
  expect(bounds.at(-1)).toMatchObject({ through_key: null });
  for (const [i, { after_key: after }] of bounds.entries())
    expect(after).toEqual(i === 0 ? null : bounds[i - 1]!['through_key']);
});
