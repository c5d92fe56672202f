/** Records of two tenants that have the same external id wait each for themselves. */
import { expect, it } from 'vitest';
import type { MappedRecord } from '../../src/domain/record.js';
import type { WaitingRecord } from '../../src/state/group-outcome.js';
import type { TakenRange } from '../../src/state/ranges.js';
import { ledgerForTests, record } from './ledger-for-tests.js';

const the = ledgerForTests();
const { newRange, reading, claim, outcome } = the;
const tenantId = (name: string): number => the.tenantIds.get(name)!;

/** The record of each tenant, and a row of its own behind each. */
const [north, south] = [record('a', '1', 'north'), record('a', '1', 'south')];

const waitOf = (r: MappedRecord, more: Partial<WaitingRecord> = {}): WaitingRecord => ({
  ...{ tenantId: tenantId(r.tenant), externalId: r.externalId, sourceKey: [r.tenant, r.externalId], reason: 'unclear' },
  ...{ batchId: null, contentHash: null, missing: [], expiresAt: null, dueIn: -1, ...more },
});

/** Both wait, as a first reading has left them. */
async function bothWait(more: Partial<WaitingRecord> = {}): Promise<TakenRange> {
  const range = await newRange();
  const waiting = [north, south].map((r) => waitOf(r, more));
  await the.ledger.checkpoint(range, await outcome(null, [north, south], 'waiting', { waiting }));
  return range;
}

const dueTenants = async (): Promise<number[]> =>
  (await the.ledger.waiting.due(the.mappingId, await the.ledger.waiting.now(), 10)).map((row) => row.tenantId).sort();

const books = (range: TakenRange) =>
  the.database.query(
    `SELECT tenant_id, read::int, accepted::int, waiting::int FROM partner_sync.books WHERE range_id = $1 ORDER BY 1`,
    [range.id],
  );

/** Both are held by the platform for a dependency, each in a batch of its own tenant. */
async function bothHeld(): Promise<TakenRange> {
  const range = await newRange();
  for (const r of [north, south]) await hold(range, r);
  return range;
}

/** The record is sent, and the platform holds it for a dependency. */
async function hold(range: TakenRange, r: MappedRecord): Promise<void> {
  const id = (await claim(range, [r])).batches[0]!.id!;
  const wait = waitOf(r, { reason: 'dependency', batchId: id, contentHash: r.contentHash });
  const held = [{ id, externalIds: [r.externalId] }];
  await the.ledger.checkpoint(range, await outcome(null, [r], 'waiting', { held, waiting: [wait] }));
}

it("ends the wait of one tenant's record, and not that of another tenant's", async () => {
  const range = await bothWait();

  const again = { reading: { kind: 'again', ...(await reading()) } as const };
  await the.ledger.checkpoint(range, await outcome(await claim(range, [north]), [north], 'accepted', again));

  expect(await dueTenants()).toEqual([tenantId('south')]);
  expect(await books(range)).toEqual([
    { tenant_id: tenantId('north'), read: 1, accepted: 1, waiting: 0 },
    { tenant_id: tenantId('south'), read: 1, accepted: 0, waiting: 1 },
  ]);
});

it("wakes one tenant's record when its parent has come, and not that of another tenant", async () => {
  await bothWait({ reason: 'expired', dueIn: 3600 });
  expect(await dueTenants()).toEqual([]);

  await the.ledger.waiting.wake(the.mappingId, [{ tenantId: tenantId('north'), externalId: 'a' }]);

  expect(await dueTenants()).toEqual([tenantId('north')]);
});

it('tells whose record waits', async () => {
  const range = await newRange();
  await the.ledger.checkpoint(range, await outcome(null, [south], 'waiting', { waiting: [waitOf(south)] }));

  const keys = ['north', 'south'].map((name) => ({ tenantId: tenantId(name), externalId: 'a' }));
  expect([...(await the.ledger.waiting.among(the.mappingId, keys)).keys()]).toEqual([`${tenantId('south')}/a`]);
});

it('marks only the held record whose own row has changed', async () => {
  const range = await bothHeld();

  expect((await claim(range, [record('a', '2', 'north')])).verdicts).toEqual(['waiting']);

  const changed = await the.database.query(
    'SELECT tenant_id FROM partner_sync.waiting WHERE mapping_id = $1 AND changed',
    [the.mappingId],
  );
  expect(changed).toEqual([{ tenant_id: tenantId('north') }]);
});

it('sends a record whose id the platform holds for another tenant only', async () => {
  const range = await newRange();
  await hold(range, south);

  expect((await claim(range, [north])).verdicts).toEqual([undefined]);
  expect((await claim(range, [south])).verdicts).toEqual(['waiting']);
});

it("lets the arrival of one tenant's parent free only this tenant's child", async () => {
  const range = await bothHeld();
  const [ofNorth] = (await the.ledger.batches.waitingOf(the.mappingId)).filter((b) => b.tenant === 'north');

  await the.ledger.checkpoint(range, {
    ...(await outcome(null, [north], 'accepted')),
    ...{ reading: { kind: 'held', batchId: ofNorth!.id, seen: 1, ...(await reading()) }, settled: [ofNorth!.id] },
  });

  expect((await the.ledger.batches.waitingOf(the.mappingId)).map((b) => b.tenant)).toEqual(['south']);
  expect(await the.ledger.waiting.outlook(the.mappingId, range.runId)).toMatchObject({ waiting: 1, held: 1 });
});

it('finds the children of one tenant behind those of another, whatever their ids', async () => {
  const range = await newRange();
  const rows = [record('y', '1', 'north'), record('z', '1', 'north'), record('a', '1', 'south')];
  const waiting = rows.map((r) => waitOf(r, { reason: 'expired', dueIn: 3600 }));
  await the.ledger.checkpoint(range, await outcome(null, rows, 'waiting', { waiting }));
  const now = await the.ledger.waiting.now();

  const found: string[] = [];
  for (let after = { tenantId: 0, externalId: '' }; ;) {
    const [row] = await the.ledger.waiting.parked(the.mappingId, now, after, 1);
    if (row === undefined) break;
    found.push(`${row.tenantId}/${row.externalId}`);
    after = row;
  }

  expect(found).toEqual(rows.map((r) => `${tenantId(r.tenant)}/${r.externalId}`));
});

it("says why a parent will not come of the batch of one tenant, and not of another's", async () => {
  const range = await bothHeld();
  const [ofNorth] = (await the.ledger.batches.waitingOf(the.mappingId)).filter((b) => b.tenant === 'north');

  await the.ledger.waiting.name(ofNorth!.id, 'parent_missing', ['a']);

  expect(await the.ledger.waiting.outlook(the.mappingId, range.runId)).toMatchObject({ waiting: 2, held: 1 });
});
