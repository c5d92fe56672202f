/** A run does not wait for descendants of a record that will not come, over any number of generations. */
import { expect, it } from 'vitest';
import type { RunReport } from '../../src/domain/run/run.js';
import { milliseconds } from '../../src/domain/timeouts.js';
import {
  expirePending,
  fill,
  NO_OPEN_ENDS,
  openEnds,
  reportOf,
  shopForTest,
  SYNC,
  type Shop,
  UNSURE_CUSTOMERS,
} from './shop.js';

const deadLetters = async (shop: Shop) =>
  (await (await shop.parts.ledger()).deadLetters.page(SYNC, {}, '0', 100)).map((l) => [
    l.mapping,
    l.externalId,
    l.code,
  ]);
const waiting = (shop: Shop) =>
  shop.state.query<{ external_id: string; reason: string }>(
    'SELECT external_id, reason FROM partner_sync.waiting ORDER BY 1',
  );
/** Runs and counts the looks after waiting records: a run that waits looks again and again. */
async function looks(shop: Shop, input: object = {}): Promise<{ report: RunReport; looks: number; timers: number }> {
  const handle = await shop.start('sync', { sync: SYNC, ...input });
  const report = await reportOf(handle);
  const { events } = await handle.fetchHistory();
  const of = (type: string): number =>
    events!.filter((e) => e.activityTaskScheduledEventAttributes?.activityType?.name === type).length;
  return {
    report,
    looks: of('pollPending'),
    // Without the one that would begin to deliver the rows of small tenants.
    timers: events!.filter(
      ({ timerStartedEventAttributes: timer }) =>
        timer != null && Number(timer.startToFireTimeout!.seconds) * 1000 !== milliseconds('smallTenantsEvery'),
    ).length,
  };
}

it('does not wait for the descendants of a customer that cannot be mapped', async () => {
  const shop = await shopForTest({ wait: '10m', upload: { waitForPending: '10m' } });
  await fill(shop, 4);
  await shop.source.query(`UPDATE shop.customers SET email = 'no address' WHERE id = 2`);

  const { report, timers } = await looks(shop);

  expect(report.outcome).toBe('complete_with_dead_letters');
  expect(timers).toBe(0);
  expect(await deadLetters(shop)).toEqual([
    ['customers', '2', 'record_invalid'],
    ['orders', 'o2', 'parent_rejected'],
    ['lines', 'o2-1', 'parent_rejected'],
  ]);

  await shop.source.query(`UPDATE shop.customers SET email = NULL, updated_at = clock_timestamp() WHERE id = 2`);
  expect((await shop.run()).outcome).toBe('complete');
  expect(await deadLetters(shop)).toEqual([]);
  expect(await shop.differences()).toBe(0);
});

it('does not wait for the grandchildren of a customer that is not in the source, and gives them up with their parents', async () => {
  const shop = await shopForTest({ wait: '10m', upload: { waitForPending: '10m' } });
  await fill(shop, 3);
  await shop.source.query('DELETE FROM shop.customers WHERE id = 2');

  const { report, timers } = await looks(shop);

  expect(report.outcome).toBe('incomplete');
  expect(timers).toBe(0);
  expect(await waiting(shop)).toEqual([
    { external_id: 'o2', reason: 'parent_missing' },
    { external_id: 'o2-1', reason: 'parent_rejected' },
  ]);

  await expirePending(shop);
  expect((await shop.run()).outcome).toBe('complete_with_dead_letters');
  expect(await deadLetters(shop)).toEqual([
    ['orders', 'o2', 'parent_missing'],
    ['lines', 'o2-1', 'parent_rejected'],
  ]);

  await shop.source.query(
    `INSERT INTO shop.customers (id, name, status, updated_at) VALUES (2, 'Late', 'A', clock_timestamp())`,
  );
  expect((await shop.run()).outcome).toBe('complete');
  expect(await deadLetters(shop)).toEqual([]);
  expect(await shop.differences()).toBe(0);
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
});

it('delivers twelve generations whose oldest has an unknown parent, and gives up only that record', async () => {
  const table = `CREATE SCHEMA shop;
    CREATE TABLE shop.people (id integer PRIMARY KEY, mother integer, name text, updated_at timestamptz NOT NULL DEFAULT now());
    INSERT INTO shop.people SELECT i, i - 1, 'Person ' || i FROM generate_series(1, 12) i`;
  const properties = { personId: { type: 'string' }, name: { type: 'string' }, mother: { $ref: 'person' } };
  const shop = await shopForTest({
    other: {
      load: async (source) => void (await source.query(table)),
      files: {
        'sync.yaml': `source: { connection: '\${env:SOURCE_URL}' }\ntenant: north\nupload: { inDoubtDelay: 1s, waitForPending: 10m }\n`,
        'people.mapping.yaml': `schema: person
source: { table: shop.people }
key: [id]
cursor: { column: updated_at, overlap: 0s }
fields:
  personId: id
  name: name
  mother: { ref: people, column: mother }
options: { dependencyWaitTimeout: 10m }
`,
        'person.schema.json': JSON.stringify({
          name: 'person',
          category: 'custom_schema',
          externalIdField: 'personId',
          schema: { type: 'object', properties, required: ['personId'], additionalProperties: false },
        }),
      },
    },
  });

  const { report, timers } = await looks(shop);

  expect(report).toMatchObject({ outcome: 'incomplete', total: { read: 12, accepted: 11, waiting: 1 } });
  expect(timers).toBe(0);
  expect(await shop.stored('person', '12')).toMatchObject({ mother: '11' });
  expect(await shop.stored('person', '1')).toMatchObject({ name: 'Person 1' });

  await expirePending(shop);
  expect((await shop.run()).outcome).toBe('complete_with_dead_letters');
  expect(await deadLetters(shop)).toEqual([['people', '1', 'parent_missing']]);

  await shop.source.query(`INSERT INTO shop.people VALUES (0, NULL, 'Eve', clock_timestamp())`);
  expect((await shop.run()).outcome).toBe('complete');
  expect(await shop.stored('person', '1')).toMatchObject({ mother: '0' });
  expect(await shop.differences()).toBe(0);
});

it('looks up an unknown parent a few times while it waits, not continually', async () => {
  const shop = await shopForTest({
    wait: '10m',
    upload: { waitForPending: '20s' },
    files: UNSURE_CUSTOMERS,
  });
  await shop.source.query(`INSERT INTO shop.orders (no, customer_id, total) VALUES ('orphan', 999, 1)`);

  const { report, timers } = await looks(shop);

  expect(report.outcome).toBe('incomplete');
  expect(timers).toBeGreaterThan(1);
  // After 1, 2, 4, 8 seconds and at the end: a wait of a day would take some 730 looks, one of ten minutes a dozen.
  expect(timers).toBeLessThanOrEqual(6);
});
