/** What a claim sends, and why it does not send the rest. */
import { expect, it } from 'vitest';
import { recordOf, RecordList } from '../../src/records/record-list.js';
import type { MappedRecord } from '../../src/domain/records/record.js';
import type { Claimed } from '../../src/ledger/batches/claims.js';
import type { AcquiredPartition } from '../../src/ledger/runs/partitions.js';
import { ledgerForTests, record } from './ledger-for-tests.js';

const the = ledgerForTests();

/** What `deletes` has the platform set in the record of a row that is marked as deleted. */
const mark = (id: string): MappedRecord => recordOf('north', id, [id], JSON.stringify({ id, gone: true }), 'apply');

/** A claim of a run that reads each row once, or of one that may read it again. */
const claim = async (
  partition: AcquiredPartition,
  records: readonly MappedRecord[],
  skipSentInRun?: boolean,
): Promise<Claimed> =>
  the.ledger.claim(partition, {
    ...(await the.reading()),
    records: RecordList.of(records),
    tenantIds: the.tenantIds,
    cut: (all) =>
      ['north', 'south']
        .map((tenant) => all.pick((i) => all.tenantAt(i) === tenant))
        .filter(({ length }) => length > 0),
    ...(skipSentInRun !== undefined && { skipSentInRun }),
  });

const delivered = async (records: readonly MappedRecord[]): Promise<AcquiredPartition> => {
  const partition = await the.newPartition();
  await the.deliver(partition, records);
  return partition;
};
const endOf = ({ runId }: AcquiredPartition): Promise<unknown> => the.ledger.runs.end(runId, 'complete');

it('tells two rows with one external id from a row that is read again, within a run that reads each row once', async () => {
  const partition = await delivered([record('a', '1'), record('b', '1')]);
  const read = [record('a', '1'), record('b', '2'), record('c', '1')];
  expect((await claim(partition, read, true)).skipReasons).toEqual([
    'delivered_in_this_run',
    'sent_in_this_run',
    undefined,
  ]);
});

it.each([false, undefined])(
  'sends a row that has changed since the run has sent it, if rows may be read again (%s)',
  async (skip) => {
    const partition = await delivered([record('a', '1')]);
    expect((await claim(partition, [record('a', '2')], skip)).skipReasons).toEqual([undefined]);
  },
);

it('sends what an earlier run has sent with other content, and what this run has sent in doubt', async () => {
  const earlier = await delivered([record('a', '1'), record('b', '1')]);
  await endOf(earlier);
  const partition = await the.newPartition();
  expect((await claim(partition, [record('a', '2'), record('b', '1')], true)).skipReasons).toEqual([
    undefined,
    'unchanged',
  ]);

  const doubted = await delivered([record('d', '1')]);
  const keys = { tenantIds: [the.tenantIds.get('north')!], externalIds: ['d'] };
  await the.ledger.knownRecords.doubt(doubted, the.mappingId, keys);
  expect((await claim(doubted, [record('d', '2')], true)).skipReasons).toEqual([undefined]);
});

it('has nothing to mark of a row that was never sent, and marks the record of one that was', async () => {
  const earlier = await delivered([record('a', '1')]);
  await endOf(earlier);
  const partition = await the.newPartition();
  const { skipReasons, batches } = await claim(partition, [mark('a'), mark('b'), record('c', '1')]);
  expect(skipReasons).toEqual([undefined, 'unchanged', undefined]);
  expect(batches.map(({ records }) => records.externalIds)).toEqual([['a', 'c']]);
});

it('marks the record of a row that is deleted while another run reads the mapping, too', async () => {
  const earlier = await delivered([record('a', '1')]);
  await endOf(earlier);
  const [partition] = [await the.newPartition(), await the.newPartition()];
  expect((await claim(partition, [mark('a'), mark('b')])).skipReasons).toEqual([undefined, 'unchanged']);
});

it('leaves a record that is in flight to its batch, also while another run reads the mapping', async () => {
  const [partition, other] = [await the.newPartition(), await the.newPartition()];
  await claim(other, [record('a', '1')]);
  expect((await claim(partition, [record('a', '2'), record('b', '1')])).skipReasons).toEqual(['contended', undefined]);
});

it('tells the records of tenants apart that take turns', async () => {
  const earlier = await delivered([record('a', '1', 'south')]);
  await endOf(earlier);
  const partition = await the.newPartition();
  const rows = [
    record('a', '1', 'north'),
    record('a', '1', 'south'),
    record('b', '1', 'north'),
    record('b', '1', 'south'),
  ];
  const { skipReasons, batches } = await claim(partition, rows);
  expect(skipReasons).toEqual([undefined, 'unchanged', undefined, undefined]);
  expect(batches.map(({ tenant, tenantId, records }) => [tenant, tenantId, records.externalIds])).toEqual([
    ['north', the.tenantIds.get('north'), ['a', 'b']],
    ['south', the.tenantIds.get('south'), ['b']],
  ]);
});

it('sends everything of a mapping that keeps no records, in batches that the ledger does not have', async () => {
  await the.ledger.ids.keepRecords(the.mappingId, false);
  const partition = await the.newPartition();
  const rows = [record('a', '1', 'north'), record('b', '1', 'south')];
  for (let time = 1; time <= 2; time++) {
    const before = Date.now();
    const { skipReasons, batches } = await claim(partition, rows);
    expect(skipReasons).toEqual([]);
    expect(batches).toMatchObject([
      { id: null, tenant: 'north', tenantId: the.tenantIds.get('north') },
      { id: null, tenant: 'south', tenantId: the.tenantIds.get('south') },
    ]);
    expect(batches.map(({ records }) => records.externalIds)).toEqual([['a'], ['b']]);
    for (const { intendedAt } of batches) expect(intendedAt).toBeGreaterThanOrEqual(before);
  }
  const written = await the.database.query('SELECT FROM partner_sync.batches WHERE mapping_id = $1', [the.mappingId]);
  expect(written).toEqual([]);
});
