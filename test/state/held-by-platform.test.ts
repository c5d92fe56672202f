/** Records that the platform holds: whoever looks after them, and whatever is read meanwhile, none is lost or sent twice. */
import { expect, it } from 'vitest';
import type { MappedRecord } from '../../src/domain/record.js';
import type { Claimed } from '../../src/state/claims.js';
import type { GroupOutcome, Reading, WaitingRecord } from '../../src/state/group-outcome.js';
import type { TakenRange } from '../../src/state/ranges.js';
import { ledgerForTests, record, type Reading as Stamps } from './ledger-for-tests.js';

const the = ledgerForTests();
const { newRange, reading, claim, outcome } = the;
const [a, b] = [record('a', '1'), record('b', '1')];
const changed = record('a', '2');

const entryOf = (r: MappedRecord, more: Partial<WaitingRecord>): WaitingRecord => ({
  ...{ tenantId: the.tenantIds.get(r.tenant)!, externalId: r.externalId, sourceKey: r.sourceKey, reason: 'busy' },
  ...{ batchId: null, contentHash: null, missing: [], expiresAt: null, dueIn: 3600, ...more },
});

/** The platform holds all records of the claim's batch. */
async function noteHeld(range: TakenRange, claimed: Claimed, records: readonly MappedRecord[], read: Stamps) {
  const id = claimed.batches[0]!.id!;
  const waiting = records.map((r) => entryOf(r, { reason: 'dependency', batchId: id, contentHash: r.contentHash }));
  const held = [{ id, externalIds: records.map((r) => r.externalId) }];
  const first = { reading: { kind: 'first', ...read } as const, settled: [], records: [] };
  await the.ledger.checkpoint(range, await outcome(claimed, records, 'waiting', { ...first, held, waiting }));
  return id;
}
async function hold(range: TakenRange, records: readonly MappedRecord[]): Promise<string> {
  const read = await reading();
  return noteHeld(range, await claim(range, records, read), records, read);
}
async function noteBusy(range: TakenRange, r: MappedRecord, read: Stamps): Promise<void> {
  const first = { reading: { kind: 'first', ...read } as const };
  await the.ledger.checkpoint(range, await outcome(null, [r], 'waiting', { ...first, waiting: [entryOf(r, {})] }));
}

/** What a follower writes who has seen so many records of the batch open. */
async function follow(range: TakenRange, batchId: string, seen: number, more: Partial<GroupOutcome>): Promise<void> {
  const held: Reading = { kind: 'held', batchId, seen, ...(await reading()) };
  await the.ledger.checkpoint(range, await outcome(null, [], 'accepted', { reading: held, ...more }));
}
const accepted = (r: MappedRecord): Pick<GroupOutcome, 'records' | 'ends'> => {
  const of = { tenantId: the.tenantIds.get(r.tenant)!, externalId: r.externalId };
  return {
    records: [{ ...of, contentHash: r.contentHash, outcome: 'accepted' }],
    ends: [{ ...of, sourceKey: r.sourceKey, column: 'accepted' }],
  };
};
const due = async (): Promise<string[]> =>
  (await the.ledger.waiting.due(the.mappingId, await the.ledger.waiting.now(), 10)).map((row) => row.externalId);
const books = async (range: TakenRange): Promise<object | undefined> =>
  (
    await the.database.query(
      `SELECT read::int, accepted::int, unchanged::int, waiting::int FROM partner_sync.books WHERE range_id = $1`,
      [range.id],
    )
  )[0];

it('lets the word of the first of two followers count, who have seen the same batch', async () => {
  const range = await newRange();
  const id = await hold(range, [a, b]);
  const rest = { held: [{ id, externalIds: ['b'] }] };
  await follow(range, id, 2, { ...accepted(a), ...rest });
  expect((await the.ledger.batches.waitingOf(the.mappingId)).map((o) => o.externalIds)).toEqual([['b']]);

  // The other one has not understood the platform's answer, and would have both records sent again.
  const [ofA, ofB] = [accepted(a), accepted(b)].map(({ records, ends }) => ({
    records: records.map((r) => ({ ...r, outcome: 'unclear' as const })),
    ends,
  }));
  await follow(await newRange(), id, 2, {
    records: [...ofA!.records, ...ofB!.records],
    ends: [...ofA!.ends, ...ofB!.ends],
    settled: [id],
  });

  expect((await the.ledger.batches.waitingOf(the.mappingId)).map((o) => o.externalIds)).toEqual([['b']]);
  expect((await claim(range, [a, b])).verdicts).toEqual(['accepted', 'waiting']);
});

it('does not read a record again while the platform holds it', async () => {
  const range = await newRange();
  await hold(range, [a]);
  await the.database.query('UPDATE partner_sync.waiting SET due_at = now() WHERE mapping_id = $1', [the.mappingId]);

  expect(await due()).toEqual([]);
});

it('sends a record that waits for another reason, while the platform holds others of its mapping', async () => {
  const range = await newRange();
  await hold(range, [a]);
  await noteBusy(range, b, await reading());

  expect((await claim(range, [b])).verdicts).toEqual([undefined]);
});

it.each([
  ['before', 'after'],
  ['after', 'before'],
])('delivers a row that changed while its record was sent, noted %s the platform held it', async (when) => {
  const [mine, other] = [await newRange(), await newRange()];
  const read = await reading();
  const claimed = await claim(mine, [a], read);
  const later = await reading();
  expect((await claim(other, [changed], later)).verdicts).toEqual(['busy']);
  if (when === 'before') await noteBusy(other, changed, later);
  const id = await noteHeld(mine, claimed, [a], read);
  if (when === 'after') await noteBusy(other, changed, later);
  expect((await the.ledger.waiting.ofBatch(id)).map((row) => row.contentHash)).toEqual([a.contentHash]);

  await follow(mine, id, 1, { ...accepted(a), settled: [id] });

  expect(await due()).toEqual(['a']);
  expect((await claim(other, [changed])).verdicts).toEqual([undefined]);
});

it('goes on holding a record back whose row has become a dead letter meanwhile', async () => {
  const range = await newRange();
  await hold(range, [a]);
  await the.ledger.checkpoint(range, await outcome(null, [a], 'deadLettered'));

  expect((await claim(range, [changed])).verdicts).toEqual(['waiting']);
});

it('counts a row as unchanged whose record the platform has let go since it was claimed', async () => {
  const [mine, other] = [await newRange(), await newRange()];
  const id = await hold(mine, [a]);
  expect((await claim(other, [a])).verdicts).toEqual(['waiting']);
  await follow(mine, id, 1, { ...accepted(a), settled: [id] });

  await the.ledger.checkpoint(other, await outcome(null, [a], 'waiting'));

  expect(await books(other)).toEqual({ read: 1, accepted: 0, unchanged: 1, waiting: 0 });
  expect(await books(mine)).toEqual({ read: 1, accepted: 1, unchanged: 0, waiting: 0 });
});

it('leaves the books of a run alone that is over when its held record arrives', async () => {
  const over = await newRange();
  const id = await hold(over, [a]);
  await the.ledger.runs.end(over.runId, 'incomplete');

  await follow(await newRange(), id, 1, { ...accepted(a), settled: [id] });

  expect(await books(over)).toEqual({ read: 1, accepted: 0, unchanged: 0, waiting: 1 });
});

it('waits at the end of a run only for what the run itself has left held, and what may still come', async () => {
  const [mine, other] = [await newRange(), await newRange()];
  const id = await hold(mine, [a]);
  await hold(other, [b]);
  expect(await the.ledger.waiting.outlook(the.mappingId, mine.runId)).toMatchObject({ waiting: 2, held: 1 });

  await the.ledger.waiting.name(id, 'parent_missing', ['a']);

  expect(await the.ledger.waiting.outlook(the.mappingId, mine.runId)).toMatchObject({ waiting: 2, held: 0 });
  expect(await the.ledger.waiting.outlook(the.mappingId, other.runId)).toMatchObject({ waiting: 2, held: 1 });
});
