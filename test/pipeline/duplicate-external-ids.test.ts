/** Rows with the same external id, far apart in the order of reading. */
import { describe, expect, it } from 'vitest';
import type { MappedRecord } from '../../src/domain/records/record.js';
import { duplicatesAmong } from '../../src/delivery/chunk/duplicate-ids.js';
import { removalOf } from '../../src/delivery/removal-record.js';
import { recordOf, RecordList } from '../../src/records/record-list.js';
import { runInProcess } from '../cli/in-process.js';
import { shopForTest, SYNC, type Shop } from './shop.js';

/** More than the three chunks that are in progress at once. */
const ROWS = 56_500;
const FILES = {
  'customers.mapping.yaml': `schema: customer
source: { table: shop.customers }
key: [id]
fields: { customerId: name, status: status }
`,
};
const duplicates = async (shop: Shop) =>
  (await (await shop.parts.ledger()).deadLetters.page(SYNC, {}, '0', 100)).map((l) => [
    l.sourceKey[0],
    l.externalId,
    l.code,
  ]);
const both = [
  ['5', 'c5', 'duplicate_external_id'],
  ['56000', 'c5', 'duplicate_external_id'],
];

it('makes dead letters of both, sends neither, and delivers both once they are fixed', async () => {
  const shop = await shopForTest({ files: FILES, upload: { batchSize: 500 } });
  await shop.source.query(
    `INSERT INTO shop.customers (id, name, status) SELECT i, 'c' || i, 'A' FROM generate_series(1, ${ROWS}) i`,
  );
  await shop.source.query(
    `CREATE INDEX ON shop.customers (name); UPDATE shop.customers SET name = 'c5', status = 'B' WHERE id = 56000`,
  );

  const first = await shop.run({ mappings: ['customers'], mode: 'full' });
  expect(first).toMatchObject({
    outcome: 'complete_with_dead_letters',
    total: { read: ROWS, accepted: ROWS - 1, deadLettered: 1 },
  });
  expect((await duplicates(shop)).sort()).toEqual([...both].sort());
  expect(await shop.stored('customer', 'c5')).toMatchObject({ status: 'A' });

  shop.proxy.forget();
  for (let i = 0; i < 2; i++)
    expect((await shop.run({ mappings: ['customers'], mode: 'full' })).total).toMatchObject({
      unchanged: ROWS - 2,
      deadLettered: 2,
    });
  expect(shop.proxy.uploads()).toBe(0);

  await shop.source.query(`UPDATE shop.customers SET name = 'c56000' WHERE id = 56000`);
  expect((await shop.backfill({ replay: {} })).outcome).toBe('complete');
  expect(await duplicates(shop)).toEqual([]);
  expect(await shop.stored('customer', 'c56000')).toMatchObject({ status: 'B' });
  expect(await shop.stored('customer', 'c5')).toMatchObject({ status: 'A' });
});

it('are detected in neighbouring chunks, one of which is uploaded while the other is read', async () => {
  const shop = await shopForTest({
    files: FILES,
    // A POST may take half the delay: on a busy machine it must not be sent again.
    upload: { batchSize: 500, waitForPending: '20s', inDoubtDelay: '20s' },
    sandbox: { processingDelay: 300 },
  });
  await shop.source.query(
    `INSERT INTO shop.customers (id, name, status) SELECT i, 'c' || i, 'A' FROM generate_series(1, 17000) i;
     UPDATE shop.customers SET name = 'c3999', status = 'B' WHERE id = 16900`,
  );
  const report = await shop.run({ mappings: ['customers'], mode: 'full' });
  expect(report.outcome).toBe('complete_with_dead_letters');
  expect((await duplicates(shop)).map(([key]) => key).sort()).toEqual(['16900', '3999']);
  // Whichever was sent first; the other has not overwritten it.
  expect(shop.proxy.requests.filter((r) => r.upload && r.body.includes('"c3999"'))).toHaveLength(1);
});

it('does not mistake a row that keeps changing within one run for a duplicate', async () => {
  const shop = await shopForTest({ files: FILES });
  await shop.source.query(`INSERT INTO shop.customers (id, name, status) VALUES (1, 'c1', 'A')`);
  await shop.run({ mappings: ['customers'] });
  let changes = 0;
  shop.proxy.fail((request) => {
    if (!request.upload || changes++ > 0) return undefined;
    void shop.source.query(`UPDATE shop.customers SET status = 'C' WHERE id = 1`);
    return { forward: true, answer: 'pass', after: 500 };
  });
  await shop.source.query(`UPDATE shop.customers SET status = 'B' WHERE id = 1`);
  await shop.run({ mappings: ['customers'] });
  expect((await shop.run({ mappings: ['customers'] })).outcome).toBe('complete');
  expect(await shop.stored('customer', 'c1')).toMatchObject({ status: 'C' });
  expect(await duplicates(shop)).toEqual([]);
});

it('keeps back the third of three rows, far behind two that are read together', async () => {
  const shop = await shopForTest({ files: FILES, upload: { batchSize: 500 } });
  await shop.source.query(
    `INSERT INTO shop.customers (id, name, status) SELECT i, 'c' || i, 'A' FROM generate_series(1, 17000) i;
     UPDATE shop.customers SET name = 'c10000', status = 'B' WHERE id IN (10001, 16900);
     CREATE INDEX ON shop.customers (name)`,
  );
  const report = await shop.run({ mappings: ['customers'], mode: 'full' });
  expect(report.total).toMatchObject({ accepted: 16_997, deadLettered: 3 });
  expect((await duplicates(shop)).map(([key]) => key).sort()).toEqual(['10000', '10001', '16900']);
  expect(shop.proxy.requests.filter((r) => r.upload && r.body.includes('"c10000"'))).toEqual([]);
});

it('does not take a row for a duplicate that has come back since its removal was decided', async () => {
  const mapping = `${FILES['customers.mapping.yaml']}deletes: { action: { set: { status: C } } }\n`;
  const shop = await shopForTest({ files: { 'customers.mapping.yaml': mapping } });
  await shop.source.query(`INSERT INTO shop.customers (id, name, status) VALUES (1, 'c1', 'A'), (2, 'c2', 'A')`);
  const sync = await shop.parts.openSync(SYNC);
  const customers = await sync.mapping('customers');
  const removal = removalOf(customers, { tenant: 'north', externalId: 'c1' });
  const row = recordOf('north', 'c1', ['5'], removal.json);

  const duplicatesOf = (record: MappedRecord) => duplicatesAmong({ sync, mapping: customers }, RecordList.of([record]));

  expect((await duplicatesOf(removal)).size).toBe(0);
  expect((await duplicatesOf(row)).size).toBe(1);
});

describe('of which one is marked as deleted', () => {
  const MAPPING = `schema: customer
source: { table: shop.customers }
key: [id]
cursor: { column: updated_at, overlap: 0s }
deletes: { column: status, values: [D], action: { set: { status: gone } } }
fields: { customerId: name, status: status }
`;
  /** Somebody who has left, and has come back with the name that only one customer can have at a time. */
  async function shopWithReturned(): Promise<Shop> {
    const shop = await shopForTest({ files: { 'customers.mapping.yaml': MAPPING } });
    await shop.source.query(`INSERT INTO shop.customers (id, name, status) VALUES (1, 'anna', 'A'), (2, 'bert', 'A')`);
    await shop.run({ mappings: ['customers'] });
    await shop.source.query(`UPDATE shop.customers SET status = 'D', updated_at = now() WHERE id = 1`);
    await shop.run({ mappings: ['customers'] });
    expect(await shop.stored('customer', 'anna')).toMatchObject({ status: 'gone' });
    await shop.source.query(`INSERT INTO shop.customers (id, name, status) VALUES (3, 'anna', 'B')`);
    await shop.run({ mappings: ['customers'] });
    // A run reads the row at its position again.
    await touch(shop, 2);
    await shop.run({ mappings: ['customers'] });
    expect(await shop.stored('customer', 'anna')).toMatchObject({ status: 'B' });
    return shop;
  }
  const touch = (shop: Shop, ...ids: number[]) =>
    shop.source.query('UPDATE shop.customers SET updated_at = now() WHERE id = ANY($1)', [ids]);

  it('keep the record as the other row has it, whenever the deleted one is read again', async () => {
    const shop = await shopWithReturned();

    await touch(shop, 1);
    const alone = await shop.run({ mappings: ['customers'] });
    await touch(shop, 1, 3);
    const together = await shop.run({ mappings: ['customers'] });
    const all = await shop.run({ mappings: ['customers'], mode: 'full' });

    for (const report of [alone, together, all])
      expect(report).toMatchObject({ outcome: 'complete', total: { accepted: 0, deadLettered: 0 } });
    expect(alone.total).toMatchObject({ read: 2, unchanged: 2 });
    expect(all.total).toMatchObject({ read: 3, unchanged: 3 });
    expect(await shop.stored('customer', 'anna')).toMatchObject({ status: 'B' });
    expect(await duplicates(shop)).toEqual([]);
    const compared = await runInProcess(['reconcile', SYNC, '--read-back', 'all', '--json'], shop.env);
    expect(compared, compared.stdout).toMatchObject({ code: 0 });
    const { stdout } = await runInProcess(['explain', SYNC, 'customers', 'anna', '--json'], shop.env);
    expect(JSON.parse(stdout)).toMatchObject({ records: [{ row: { key: ['3'], deletion: null } }] });
  });

  it('mark the record once the other row is deleted, too, and close its dead letter when only one is left', async () => {
    const shop = await shopWithReturned();
    await shop.source.query(
      `UPDATE shop.customers SET status = 'A', updated_at = now() WHERE id = 1;
       UPDATE shop.customers SET updated_at = now() WHERE id = 3`,
    );
    await shop.run({ mappings: ['customers'] });
    expect((await duplicates(shop)).map(([key]) => key).sort()).toEqual(['1', '3']);

    await shop.source.query(`UPDATE shop.customers SET status = 'D', updated_at = now() WHERE id = 1`);
    expect((await shop.backfill({ replay: {} })).outcome).toBe('complete');
    expect(await duplicates(shop)).toEqual([]);

    await shop.source.query(`UPDATE shop.customers SET status = 'D', updated_at = now() WHERE id = 3`);
    await shop.run({ mappings: ['customers'] });
    expect(await shop.stored('customer', 'anna')).toMatchObject({ status: 'gone' });
  });
});
