/** Dead letters of overlapping readings, and of several syncs and mappings. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { AcquiredPartition } from '../../src/ledger/runs/partitions.js';
import type { DeadLetter } from '../../src/ledger/outcomes/row-outcomes.js';
import { ledgerForTests, record, type Read } from './ledger-for-tests.js';

const the = ledgerForTests();
const { newPartition, reading, claim, outcome } = the;
const a = record('a', '1');

const deadLetter = (id: string, more: Partial<DeadLetter> = {}): DeadLetter => ({
  tenantId: the.tenantIds.get('north')!,
  externalId: id,
  sourceKey: [id],
  code: 'record_invalid',
  pointer: '',
  rule: '',
  reason: '',
  shape: '',
  ...more,
});

const note = async (partition: AcquiredPartition, deadLetters: readonly DeadLetter[], read?: Read): Promise<void> =>
  the.ledger.checkpoint(
    partition,
    await outcome(null, [], 'deadLettered', { readSeqs: read ?? (await reading()), deadLetters }),
  );

const reasons = async (): Promise<string[]> =>
  (await the.ledger.deadLetters.ofRecord(the.mappingId, 'a')).map((d) => d.reason);
const idsOf = async (): Promise<string[]> => {
  const bounds = { after: '0', through: await the.ledger.deadLetters.newest(the.mappingId), limit: 100 };
  return (await the.ledger.deadLetters.keys(the.mappingId, {}, bounds)).map((d) => d.sourceKey[0]!);
};

it('keeps the dead letter of a row that was read after the version that has been delivered', async () => {
  const [slow, quick] = [await newPartition(), await newPartition()];
  const early = await reading();
  const claimed = await claim(slow, [a], early);
  await note(quick, [deadLetter('a')]);

  await the.ledger.checkpoint(slow, await outcome(claimed, [a], 'accepted', { readSeqs: early }));

  expect(await idsOf()).toEqual(['a']);
  await the.ledger.checkpoint(quick, await outcome(null, [a], 'unchanged'));
  expect(await idsOf()).toEqual([]);
});

it('keeps what the newest reading found wrong with a row, whichever is written last', async () => {
  const [slow, quick] = [await newPartition(), await newPartition()];
  const early = await reading();
  await note(quick, [deadLetter('a', { reason: 'found last' })]);

  await note(slow, [deadLetter('a', { reason: 'found first' })], early);

  expect(await reasons()).toEqual(['found last']);
});

it('does not close a dead letter that was written again while its row was looked up', async () => {
  const partition = await newPartition();
  await note(partition, [deadLetter('a'), deadLetter('b')]);
  const readSeqStart = await the.ledger.nextReadSeq();
  await note(partition, [deadLetter('a')]);
  const ids = await the.database.query<{ id: string }>(
    'SELECT id::text FROM partner_sync.dead_letters WHERE mapping_id = $1',
    [the.mappingId],
  );

  const closed = await the.ledger.deadLetters.close(
    the.mappingId,
    ids.map(({ id }) => id),
    readSeqStart,
  );

  expect(closed).toBe(1);
  expect(await idsOf()).toEqual(['a']);
});

it('reads all dead letters again up to the newest one, which is among them', async () => {
  await note(await newPartition(), [deadLetter('a'), deadLetter('b'), deadLetter('c')]);
  expect(await idsOf()).toEqual(['a', 'b', 'c']);
});

it('treats only dead letters of duplicate external ids as duplicates, not those of another cause', async () => {
  const { deadLetters } = the.ledger;
  await note(await newPartition(), [deadLetter('a')]);
  expect(await deadLetters.duplicateIds(the.mappingId, ['a', 'b'])).toBeNull();

  await note(await newPartition(), [deadLetter('b', { code: 'duplicate_external_id' })]);
  expect(await deadLetters.duplicateIds(the.mappingId, ['a', 'b'])).toEqual(new Set(['b']));
  expect(await deadLetters.duplicateIds(the.mappingId, ['a'])).toEqual(new Set());
});

it("drops the dead letters of a sync, and none of another sync's, though their mappings have the same name", async () => {
  const { ids, deadLetters } = the.ledger;
  const [mapping, one, two] = [randomUUID(), randomUUID(), randomUUID()];
  for (const sync of [one, two]) {
    const partition = { ...(await newPartition()), mappingId: await ids.mappingId(sync, mapping) };
    await note(partition, [deadLetter('a')]);
  }

  expect(
    await deadLetters.drop(one, { mappings: [mapping] }, await deadLetters.newestOf(one), {
      who: 'ana',
      origin: 'cli',
    }),
  ).toBe(1);

  expect(await deadLetters.count(one, {})).toBe(0);
  expect(await deadLetters.count(two, {})).toBe(1);
  expect(await deadLetters.page(two, {}, '0', 10)).toHaveLength(1);
  expect(await deadLetters.causes(two, {})).toHaveLength(1);
});

it('selects dead letters since a time by when they were last seen', async () => {
  const partition = await newPartition();
  await note(partition, [deadLetter('old'), deadLetter('again')]);
  await the.database.query(
    `UPDATE partner_sync.dead_letters SET first_seen = '2020-01-01', last_seen = '2020-01-01' WHERE mapping_id = $1`,
    [the.mappingId],
  );
  await note(partition, [deadLetter('again')]);
  const bounds = { after: '0', through: await the.ledger.deadLetters.newest(the.mappingId), limit: 100 };

  const since = await the.ledger.deadLetters.keys(the.mappingId, { since: '2021-01-01T00:00:00Z' }, bounds);

  expect(since.map((d) => d.sourceKey)).toEqual([['again']]);
});
