/** Dead letters of readings that lie beside each other in time, and of syncs and mappings beside each other. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { DeadLetter } from '../../src/state/group-outcome.js';
import type { TakenRange } from '../../src/state/ranges.js';
import { ledgerForTests, record, type Reading } from './ledger-for-tests.js';

const the = ledgerForTests();
const { newRange, reading, claim, outcome } = the;
const a = record('a', '1');

const letter = (id: string, more: Partial<DeadLetter> = {}): DeadLetter => ({
  ...{ tenantId: the.tenantIds.get('north')!, externalId: id, sourceKey: [id], code: 'record_invalid' },
  ...{ pointer: '', rule: '', reason: '', shape: '', ...more },
});

const note = async (range: TakenRange, letters: readonly DeadLetter[], read?: Reading): Promise<void> =>
  the.ledger.checkpoint(
    range,
    await outcome(null, [], 'deadLettered', {
      reading: { kind: 'first', ...(read ?? (await reading())) },
      deadLetters: letters,
    }),
  );

const reasons = async (): Promise<string[]> =>
  (await the.ledger.deadLetters.ofRecord(the.mappingId, 'a')).map((l) => l.reason);
const idsOf = async (): Promise<string[]> => {
  const bounds = { after: '0', through: await the.ledger.deadLetters.newest(the.mappingId), limit: 100 };
  return (await the.ledger.deadLetters.keys(the.mappingId, {}, bounds)).map((l) => l.sourceKey[0]!);
};

it('keeps the dead letter of a row that was read after the version that has been delivered', async () => {
  const [slow, quick] = [await newRange(), await newRange()];
  const early = await reading();
  const claimed = await claim(slow, [a], early);
  await note(quick, [letter('a')]);

  const first = { reading: { kind: 'first', ...early } as const };
  await the.ledger.checkpoint(slow, await outcome(claimed, [a], 'accepted', first));

  expect(await idsOf()).toEqual(['a']);
  await the.ledger.checkpoint(quick, await outcome(null, [a], 'unchanged'));
  expect(await idsOf()).toEqual([]);
});

it('keeps what the newest reading has found wrong with a row, whichever is noted last', async () => {
  const [slow, quick] = [await newRange(), await newRange()];
  const early = await reading();
  await note(quick, [letter('a', { reason: 'found last' })]);

  await note(slow, [letter('a', { reason: 'found first' })], early);

  expect(await reasons()).toEqual(['found last']);
});

it('does not close a dead letter that was written anew while its row was looked for', async () => {
  const range = await newRange();
  await note(range, [letter('a'), letter('b')]);
  const before = await the.ledger.stamp();
  await note(range, [letter('a')]);
  const ids = await the.database.query<{ id: string }>(
    'SELECT id::text FROM partner_sync.dead_letters WHERE mapping_id = $1',
    [the.mappingId],
  );

  const closed = await the.ledger.deadLetters.close(
    the.mappingId,
    ids.map(({ id }) => id),
    before,
  );

  expect(closed).toBe(1);
  expect(await idsOf()).toEqual(['a']);
});

it('reads all dead letters again up to the newest one, which is among them', async () => {
  await note(await newRange(), [letter('a'), letter('b'), letter('c')]);
  expect(await idsOf()).toEqual(['a', 'b', 'c']);
});

it('takes only rows that clash for clashes, not those that are wrong in another way', async () => {
  const { deadLetters } = the.ledger;
  await note(await newRange(), [letter('a')]);
  expect(await deadLetters.clashing(the.mappingId, ['a', 'b'])).toBeNull();

  await note(await newRange(), [letter('b', { code: 'duplicate_external_id' })]);
  expect(await deadLetters.clashing(the.mappingId, ['a', 'b'])).toEqual(new Set(['b']));
  expect(await deadLetters.clashing(the.mappingId, ['a'])).toEqual(new Set());
});

it("drops the dead letters of a sync, and none of another sync's, though their mappings have the same name", async () => {
  const { catalog, deadLetters } = the.ledger;
  const [mapping, one, two] = [randomUUID(), randomUUID(), randomUUID()];
  for (const sync of [one, two]) {
    const range = { ...(await newRange()), mappingId: await catalog.mappingId(sync, mapping) };
    await note(range, [letter('a')]);
  }

  expect(await deadLetters.drop(one, { mappings: [mapping] })).toBe(1);

  expect(await deadLetters.count(one, {})).toBe(0);
  expect(await deadLetters.count(two, {})).toBe(1);
  expect(await deadLetters.page(two, {}, '0', 10)).toHaveLength(1);
  expect(await deadLetters.causes(two, {})).toHaveLength(1);
});

it('counts a dead letter among those since a time by when it was seen last', async () => {
  const range = await newRange();
  await note(range, [letter('old'), letter('again')]);
  await the.database.query(
    `UPDATE partner_sync.dead_letters SET first_seen = '2020-01-01', last_seen = '2020-01-01' WHERE mapping_id = $1`,
    [the.mappingId],
  );
  await note(range, [letter('again')]);
  const bounds = { after: '0', through: await the.ledger.deadLetters.newest(the.mappingId), limit: 100 };

  const since = await the.ledger.deadLetters.keys(the.mappingId, { since: '2021-01-01T00:00:00Z' }, bounds);

  expect(since.map((l) => l.sourceKey)).toEqual([['again']]);
});
