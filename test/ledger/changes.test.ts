/** Changed rows in the ledger: noted with the feed's position, kept until they are settled, and named again in between. */
import { randomUUID } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import type { ChangedRow } from '../../src/ledger/changes/changed-rows.js';
import type { AcquiredFeed } from '../../src/ledger/changes/feeds.js';
import type { DeadLetter } from '../../src/ledger/outcomes/row-outcomes.js';
import type { AcquiredPartition } from '../../src/ledger/runs/partitions.js';
import { at, fedLedgerForTests, LAST } from './fed-ledger-for-tests.js';
import { record } from './ledger-for-tests.js';
import { newRun } from './new-partition.js';

const its = fedLedgerForTests();
const { the, note, rows, keys } = its;
const { deliver, newPartition, outcome } = the;

let feed: AcquiredFeed;
beforeEach(() => {
  feed = its.feed;
});

const seqsOf = (some: readonly ChangedRow[]): string[] => some.map(({ seq }) => seq);

/** Writes the checkpoint of these rows, of which some are gone, and of those that are kept for a removal plan or for other runs. */
async function settle(
  partition: AcquiredPartition,
  settled: readonly ChangedRow[],
  gone: readonly ChangedRow[] = [],
  kept: { planId?: string; through?: string; rows: readonly ChangedRow[] } = { rows: [] },
) {
  const checkpoint = await outcome(null, [], 'unchanged');
  const after = seqsOf([...settled, ...kept.rows]).at(-1)!;
  const seqs = seqsOf(kept.rows);
  const resumePoint = {
    ...{ kind: 'changed_rows', after, seqs: seqsOf(settled), gone: seqsOf(gone) },
    planned: kept.planId === undefined ? null : { planId: kept.planId, seqs },
    leftToRuns: kept.through === undefined ? null : { through: kept.through, seqs },
  } as const;
  await the.ledger.checkpoint(partition, { ...checkpoint, resumePoint } as typeof checkpoint);
}
/** The dead letter of a row that could not be mapped. */
const letterOf = (key: string): DeadLetter => ({
  ...{ tenantId: 1, externalId: key, sourceKey: [key], code: 'mapping_failed', pointer: '/x', rule: 'r' },
  ...{ reason: 'bad', shape: 'text', missing: [] },
});

it('are noted once, in the order in which they were named last', async () => {
  await note(['a', 'b', 'a']);
  await note(['c', 'a']);
  expect(await keys()).toEqual(['b', 'c', 'a']);
});

it('are settled by the checkpoint with their outcomes, unless they were named again meanwhile', async () => {
  await note(['a', 'b', 'c']);
  const read = await rows();
  await note(['b']);
  await settle(await newPartition(), read.slice(0, 2));
  expect(await keys()).toEqual(['c', 'b']);
});

it('stay on the list if the checkpoint is that of an attempt that was taken over', async () => {
  await note(['a']);
  const old = await newPartition();
  await the.ledger.partitions.acquire(old.id);
  await expect(settle(old, await rows())).rejects.toMatchObject({ code: 'fenced_off' });
  expect(await keys()).toEqual(['a']);
});

it('are noted together with the position, and by the latest reader of the feed alone', async () => {
  const newer = await the.ledger.feeds.acquire('shop', feed.name);
  await expect(note(['a'], '20')).rejects.toMatchObject({ code: 'fenced_off' });
  expect(await keys()).toEqual([]);

  await note(['b'], '30', newer);
  expect(await the.ledger.feeds.acquire('shop', feed.name)).toMatchObject({ position: at('30') });
});

it('keep with the position what the source has confirmed, by the latest reader alone, until the feed begins anew', async () => {
  await the.ledger.feeds.noteConfirmed(feed, '7');
  await note(['a'], '20');
  const newer = await the.ledger.feeds.acquire('shop', feed.name);
  expect(newer.position).toEqual({ ...at('20'), confirmed: '7' });
  await expect(the.ledger.feeds.noteConfirmed(feed, '9')).rejects.toMatchObject({ code: 'fenced_off' });
  const known = (await the.ledger.feeds.ofSync('shop')).find(({ name }) => name === feed.name);
  expect(known?.position).toEqual({ ...at('20'), confirmed: '7' });
  await the.ledger.feeds.begin(newer, at('5', 'two'));
  expect((await the.ledger.feeds.acquire('shop', feed.name)).position).toEqual({ ...at('5', 'two'), confirmed: null });
});

it('of each mapping are told by the newest, and how many there are', async () => {
  await note(['a', 'b', 'c']);
  const [own, first] = [the.mappingId, (await rows())[0]!.seq];
  await the.newMapping();
  await note(['d']);
  const other = the.mappingId;
  await the.newMapping();
  const { changedRows } = the.ledger;

  const [c, d] = [await changedRows.newest(own), await changedRows.newest(other)];
  expect([c.rows, d.rows]).toEqual([3, 1]);
  expect(BigInt(c.seq)).toBe(BigInt(first) + 2n);
  expect(BigInt(d.seq)).toBe(BigInt(c.seq) + 1n);
  expect(await changedRows.newest(the.mappingId)).toEqual({ seq: '0', rows: 0 });
  const all = await changedRows.newestOf([own, other, the.mappingId]);
  expect([...all].toSorted(([a], [b]) => a - b)).toEqual([
    [own, c.seq],
    [other, d.seq],
  ]);
});

it('are left out once for the open removal plans of the run that asks', async () => {
  const { removals } = the.ledger;
  await note(['a', 'b', 'c', 'd']);
  const [a, b, c] = await rows();
  const run = await newRun(the.ledger);
  const own = await removals.open(run, the.mappingId, '{}');
  const ofAnother = await removals.open(await newRun(the.ledger), the.mappingId, '{}');
  await settle(await newPartition(), [], [], { planId: own.id, rows: [a!] });
  await settle(await newPartition(), [], [], { planId: ofAnother.id, rows: [b!] });
  const left = async (after = '0') =>
    (
      await the.ledger.changedRows.page(the.mappingId, run, { after, through: LAST, limit: 9, withoutPlanned: true })
    ).map(({ key }) => key.join());

  expect(await left()).toEqual(['b', 'c', 'd']);
  expect(await left(c!.seq)).toEqual(['d']);
  await the.database.query(`UPDATE partner_sync.removal_plans SET state = 'replaced' WHERE id = $1`, [own.id]);
  expect(await left()).toEqual(['a', 'b', 'c', 'd']);
});

it('may have been read by several runs, of which the newest is told', async () => {
  const own = await newRun(the.ledger);
  const others = [await newRun(the.ledger), await newRun(the.ledger)];
  for (const run of others) await newPartition(false, run);
  expect(await the.ledger.changedRows.newestReader(the.mappingId, own)).toBe(others[1]);
});

it('end only the dead letters of rows that are gone, of their own mapping, and that were read before', async () => {
  const die = async (partition: AcquiredPartition, keys: readonly string[]) =>
    the.ledger.checkpoint(
      partition,
      await outcome(
        null,
        keys.map((key) => record(key, '1')),
        'deadLettered',
        { deadLetters: keys.map(letterOf) },
      ),
    );
  const left = async (mapping = the.mappingId) =>
    (
      await the.database.query<{ id: string }>(
        'SELECT external_id AS id FROM partner_sync.dead_letters WHERE mapping_id = $1 ORDER BY 1',
        [mapping],
      )
    ).map(({ id }) => id);
  const other = the.mappingId;
  await die(await newPartition(), ['a', 'b']);
  await note(['a', 'b']);
  await the.newMapping();
  await die(await newPartition(), ['a', 'b', 'c']);
  await note(['a', 'b', 'c']);
  const [a, b, c] = await rows();
  const partition = await newPartition();
  const early = await the.reading();
  await die(await newPartition(), ['b']);

  const checkpoint = await outcome(null, [], 'unchanged', { readSeqs: early });
  const gone = seqsOf([a!, b!]);
  const resumePoint = { kind: 'changed_rows', after: c!.seq, seqs: [], gone, planned: null, leftToRuns: null } as const;
  await the.ledger.checkpoint(partition, { ...checkpoint, resumePoint } as typeof checkpoint);

  expect(await left()).toEqual(['b', 'c']);
  expect(await left(other)).toEqual(['a', 'b']);
});

it('end the dead letters of rows that are gone', async () => {
  const partition = await newPartition();
  const dead = { deadLetters: [letterOf('a')] };
  await the.ledger.checkpoint(partition, await outcome(null, [record('a', '1')], 'deadLettered', dead));
  expect(await the.ledger.deadLetters.newest(the.mappingId)).not.toBe('0');

  await note(['a']);
  const read = await rows();
  await settle(partition, read, read);
  expect(await the.ledger.deadLetters.newest(the.mappingId)).toBe('0');
});

it('are left alone while another run reads the mapping, which may have read them before they changed', async () => {
  await note(['a', 'b']);
  const [a] = await rows();
  const own = await newRun(the.ledger);
  const partition = await newPartition(false, own);
  expect(await the.ledger.changedRows.newestReader(the.mappingId, own)).toBeNull();

  const other = await newRun(the.ledger);
  await newPartition(false, other);
  expect(await the.ledger.changedRows.newestReader(the.mappingId, own)).toBe(other);
  await settle(partition, [], [], { through: other, rows: [a!] });
  expect(await keys(own)).toEqual(['b']);
  // One that begins later reads the row as it is now: not at all.
  await newPartition(false, await newRun(the.ledger));
  await the.ledger.runs.end(other, 'complete');
  expect(await keys(own)).toEqual(['a', 'b']);
});

it('are left no longer to a run that has read the mapping, though it has not ended', async () => {
  await note(['a']);
  const own = await newRun(the.ledger);
  const partition = await newPartition(false, own);
  const other = await newRun(the.ledger);
  const reading = await newPartition(false, other);
  await settle(partition, [], [], { through: other, rows: await rows() });
  expect(await keys(own)).toEqual([]);

  await the.ledger.partitions.finish(reading);
  expect(await the.ledger.changedRows.newestReader(the.mappingId, own)).toBeNull();
  expect(await keys(own)).toEqual(['a']);

  // Parents and rows of dead letters are read whenever somebody asks for them, also before anything of them is claimed.
  await the.ledger.partitions.forRowsByKey(other, the.mappingId);
  expect(await the.ledger.changedRows.newestReader(the.mappingId, own)).toBe(other);
  expect(await keys(own)).toEqual([]);
});

it('that are left to other runs count as delivered', async () => {
  await note(['a', 'b']);
  const own = await newRun(the.ledger);
  const other = await newRun(the.ledger);
  await newPartition(false, other);
  const seen = async () => (await the.ledger.feeds.ofSync('shop')).find(({ name }) => name === feed.name)!.mappings[0];
  const [a, b] = await rows();
  await settle(await newPartition(false, own), [], [], { through: other, rows: [a!] });
  expect(await seen()).toMatchObject({ changedRows: 1 });
  await settle(await newPartition(false, own), [], [], { through: other, rows: [b!] });
  expect(await seen()).toMatchObject({ changedRows: 0, oldestAt: null });
});

it('are kept until the removal plan of their records is carried out', async () => {
  await deliver(await newPartition(), [record('a', '1'), record('b', '1')]);
  await note(['a', 'b']);
  const plan = await the.ledger.removals.open(await newRun(the.ledger), the.mappingId, '{}');
  await settle(await newPartition(), [], [], { planId: plan.id, rows: await rows() });
  expect(await keys()).toEqual(['a', 'b']);

  // Its row has come back.
  await note(['b']);
  await the.ledger.removals.finish(plan);
  expect(await keys()).toEqual(['b']);
});

it('are kept if the removal plan of their records is carried out before their chunk has its checkpoint', async () => {
  await deliver(await newPartition(), [record('a', '1')]);
  await note(['a']);
  const plan = await the.ledger.removals.open(await newRun(the.ledger), the.mappingId, '{}');
  await the.ledger.removals.add(plan, { tenantIds: [1], externalIds: ['a'] }, null);
  const read = await rows();

  await the.ledger.removals.finish(plan);

  // The row that is there now may not have been delivered.
  expect(await keys()).toEqual(['a']);
  await settle(await newPartition(), [], [], { planId: plan.id, rows: read });
  expect(await keys()).toEqual(['a']);
});

it('are kept if an attempt that was frozen would end the plan of their records after it was opened again', async () => {
  const { removals, partitions } = the.ledger;
  await deliver(await newPartition(), [record('a', '1'), record('b', '1')]);
  const runId = await newRun(the.ledger);
  const planned = async (id: string) => {
    const open = await removals.open(runId, the.mappingId, '{}', true);
    await removals.add(open, { tenantIds: [1], externalIds: [id] }, null);
    await removals.decide(open, 'due', { records: 1, accepted: 2 });
    return open;
  };
  const first = await planned('a');
  await partitions.finish(await partitions.acquire(await partitions.forRemovals(runId, the.mappingId)));
  await removals.finish(first);
  await note(['b']);
  const again = await planned('b');
  await settle(await newPartition(), [], [], { planId: again.id, rows: await rows() });

  await removals.finish(first);

  expect(await keys()).toEqual(['b']);
  expect(await removals.page(again.id, null, 10)).toMatchObject([{ externalId: 'b' }]);
  await partitions.finish(await partitions.acquire(await partitions.forRemovals(runId, the.mappingId)));
  await removals.finish(again);
  expect(await keys()).toEqual([]);
});

it('tell whether their records were sent, and what still waits', async () => {
  const partition = await newPartition();
  await deliver(partition, [record('a', '1')]);
  await the.ledger.checkpoint(
    partition,
    await outcome(null, [record('b', '1')], 'waiting', { waiting: [the.queued(record('b', '1'))] }),
  );
  const tenantId = the.tenantIds.get('north')!;
  const found = await the.ledger.knownRecords.among(the.mappingId, {
    tenantIds: [tenantId, tenantId, tenantId],
    externalIds: ['a', 'b', 'c'],
  });
  expect(found).toEqual([
    { tenantId, externalId: 'b', contentHash: undefined, isUndecided: true },
    { tenantId, externalId: 'a', contentHash: record('a', '1').contentHash, isUndecided: false },
  ]);
});

it('are shown with their feed, up to a bound, and since when the oldest one waits', async () => {
  await note(['a', 'b'], '20');
  const [known] = (await the.ledger.feeds.ofSync('shop')).filter(({ name }) => name === feed.name);
  expect(known).toMatchObject({
    position: at('20'),
    readAt: expect.any(Date) as Date,
    mappings: [{ loaded: false, changedRows: 2, oldestAt: expect.any(Date) as Date }],
  });
  expect(await the.ledger.feeds.ofSync('no-such-sync')).toEqual([]);
});

it('are forgotten with their feed, so that it begins anew, but not while a run has not ended', async () => {
  const actor = { who: 'ana', origin: 'cli' } as const;
  await note(['a', 'b'], '20');
  await newPartition();
  await expect(the.ledger.feeds.forget('shop', feed.name, actor)).rejects.toMatchObject({ code: 'run_in_progress' });
  expect(await keys()).toEqual(['a', 'b']);
  for (const { id } of await the.ledger.runs.notEnded('shop')) await the.ledger.runs.end(id, 'complete');

  expect(await the.ledger.feeds.forget('shop', feed.name, actor)).toBe(2);

  expect(await keys()).toEqual([]);
  expect(await the.ledger.feeds.mapping(the.mappingId)).toBeNull();
  await expect(note(['c'])).rejects.toMatchObject({ code: 'fenced_off' });
  expect(await the.ledger.feeds.acquire('shop', feed.name)).toMatchObject({ position: null });
  const [entry] = await the.ledger.audit.latest({ sync: 'shop', limit: 1 });
  expect(entry).toMatchObject({ action: 'feed_removed', actor, subject: { feed: feed.name, changedRows: 2 } });
  expect(await the.ledger.feeds.forget('shop', randomUUID(), actor)).toBeNull();
});

it('are gone through once in a run, even if some of them stay on the list', async () => {
  await note(['a', 'b', 'c']);
  const [a, b, c] = await rows();
  const runId = await newRun(the.ledger);
  const planned = { expectedRows: null, isComplete: true, highWatermarkAt: new Date() };
  await the.ledger.partitions.planChangedRows(runId, the.mappingId, c!.seq, planned);
  const [partition] = await the.ledger.partitions.planned(runId, the.mappingId);
  await settle(await the.ledger.partitions.acquire(partition!.id), [b!]);
  expect((await the.ledger.partitions.acquire(partition!.id)).work).toEqual({
    kind: 'changed_rows',
    after: b!.seq,
    through: c!.seq,
  });
  expect(await keys()).toEqual(['a', 'c']);
  expect(a!.seq).not.toBe(b!.seq);
});

it('have removal plans that replace each other, and none that a search has made', async () => {
  const { removals, feeds } = the.ledger;
  const planOf = async (isSearched: boolean) => {
    const runId = await newRun(the.ledger);
    const plan = await removals.open(runId, the.mappingId, '{}');
    if (isSearched) await feeds.beginSearch(the.mappingId, plan.id);
    await removals.decide(plan, 'awaiting_approval', { records: 1, accepted: 9 });
    await the.ledger.runs.end(runId, 'incomplete');
    return plan.id;
  };
  const awaiting = async () =>
    (await removals.awaitingApproval('shop')).map(({ plan }) => plan).filter((id) => plans.includes(id));
  const plans = [await planOf(true), await planOf(false)];
  expect(await awaiting()).toEqual(plans);
  plans.push(await planOf(false));
  expect(await awaiting()).toEqual([plans[0], plans[2]]);
  plans.push(await planOf(true));
  expect(await awaiting()).toEqual([plans[3]]);
});

it('have removal plans that no run replaces or empties while theirs goes on', async () => {
  const { removals, feeds } = the.ledger;
  await deliver(await newPartition(), [record('a', '1'), record('b', '1')]);
  await note(['a', 'b']);
  const live = await newRun(the.ledger, { mode: 'live' });
  const planned = { tenantIds: [1, 1], externalIds: ['a', 'b'] };
  const plan = await removals.open(live, the.mappingId, '{}');
  await removals.add(plan, planned, null);
  await settle(await newPartition(), [], [], { planId: plan.id, rows: await rows() });
  await removals.decide(plan, 'due', { records: 2, accepted: 2 });

  const mirror = await removals.open(await newRun(the.ledger, { mode: 'mirror' }), the.mappingId, '{}');
  await feeds.beginSearch(the.mappingId, mirror.id);
  await removals.decide(mirror, 'due', { records: 0, accepted: 2 });
  await removals.finish(mirror);

  expect((await removals.ofRun(live)).map(({ state }) => state)).toEqual(['due']);
  expect(await removals.page(plan.id, null, 10)).toHaveLength(2);
  expect(await keys()).toEqual(['a', 'b']);
  await the.ledger.runs.end(live, 'complete');
});
