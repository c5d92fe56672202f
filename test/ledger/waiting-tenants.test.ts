/** Records of two tenants with the same external id wait independently. */
import { expect, it } from 'vitest';
import type { MappedRecord } from '../../src/domain/records/record.js';
import type { AcquiredPartition } from '../../src/ledger/runs/partitions.js';
import { FIRST_PLACE, type RecordPlace } from '../../src/ledger/record-key.js';
import type { QueuedRecord } from '../../src/ledger/waiting/index.js';
import { ledgerForTests, record } from './ledger-for-tests.js';

const the = ledgerForTests();
const { newPartition, claim, outcome } = the;
const tenantId = (name: string): number => the.tenantIds.get(name)!;

/** The record of each tenant, and a row of its own behind each. */
const [north, south] = [record('a', '1', 'north'), record('a', '1', 'south')];

const keyOf = (r: MappedRecord) => ({ sourceKey: [r.tenant, r.externalId] });
const waitOf = (r: MappedRecord, more: Partial<QueuedRecord> = {}): QueuedRecord =>
  the.queued(r, { ...keyOf(r), reason: 'unknown', dueIn: -1, ...more });

/** Both wait, as a first reading has left them. */
async function bothWait(more: Partial<QueuedRecord> = {}): Promise<AcquiredPartition> {
  const partition = await newPartition();
  const waiting = [north, south].map((r) => waitOf(r, more));
  await the.ledger.checkpoint(partition, await outcome(null, [north, south], 'waiting', { waiting }));
  return partition;
}

const dueTenants = async (): Promise<number[]> =>
  (await the.ledger.waiting.due(the.mappingId, await the.ledger.waiting.now(), 10)).map((row) => row.tenantId).sort();

const counts = (partition: AcquiredPartition) =>
  the.database.query(
    `SELECT tenant_id, read::int, accepted::int, waiting::int FROM partner_sync.partition_counts WHERE partition_id = $1 ORDER BY 1`,
    [partition.id],
  );

/** The platform holds both for a dependency, each in a batch of its tenant. */
async function bothPending(): Promise<AcquiredPartition> {
  const partition = await newPartition();
  for (const r of [north, south]) await hold(partition, r);
  return partition;
}

/** The record is sent, and the platform holds it for a dependency. */
async function hold(partition: AcquiredPartition, r: MappedRecord): Promise<void> {
  const [batch] = (await claim(partition, [r])).batches;
  await the.ledger.batches.markSent(batch!, 'platform-1');
  const id = batch!.id!;
  const wait = the.pending(r, id, keyOf(r));
  const batches = [{ id, pending: [r.externalId] }];
  await the.ledger.checkpoint(partition, await outcome(null, [r], 'waiting', { batches, waiting: [wait] }));
}

it("ends the wait of one tenant's record, and not that of another tenant's", async () => {
  const partition = await bothWait();

  const again = { kind: 'retry' } as const;
  await the.ledger.checkpoint(partition, await outcome(await claim(partition, [north]), [north], 'accepted', again));

  expect(await dueTenants()).toEqual([tenantId('south')]);
  expect(await counts(partition)).toEqual([
    { tenant_id: tenantId('north'), read: 1, accepted: 1, waiting: 0 },
    { tenant_id: tenantId('south'), read: 1, accepted: 0, waiting: 1 },
  ]);
});

it("makes one tenant's record due when its parent has arrived, and not that of another tenant", async () => {
  await bothWait({ reason: 'lacks_parent', dueIn: 3600 });
  expect(await dueTenants()).toEqual([]);

  await the.ledger.waiting.makeDue(the.mappingId, [{ tenantId: tenantId('north'), externalId: 'a' }]);

  expect(await dueTenants()).toEqual([tenantId('north')]);
});

it('reports the tenant of a waiting record', async () => {
  const partition = await newPartition();
  await the.ledger.checkpoint(partition, await outcome(null, [south], 'waiting', { waiting: [waitOf(south)] }));

  const keys = ['north', 'south'].map((name) => ({ tenantId: tenantId(name), externalId: 'a' }));
  expect([...(await the.ledger.waiting.among(the.mappingId, keys)).keys()]).toEqual([`${tenantId('south')}/a`]);
});

it('marks only the pending record whose own row has changed', async () => {
  const partition = await bothPending();

  expect((await claim(partition, [record('a', '2', 'north')])).skipReasons).toEqual(['pending']);

  const readAgain = await the.database.query(
    'SELECT tenant_id FROM partner_sync.waiting WHERE mapping_id = $1 AND read_again',
    [the.mappingId],
  );
  expect(readAgain).toEqual([{ tenant_id: tenantId('north') }]);
});

it('sends a record whose id is pending only for another tenant', async () => {
  const partition = await newPartition();
  await hold(partition, south);

  expect((await claim(partition, [north])).skipReasons).toEqual([undefined]);
  expect((await claim(partition, [south])).skipReasons).toEqual(['pending']);
});

it("lets the arrival of one tenant's parent release only this tenant's child", async () => {
  const partition = await bothPending();
  const [ofNorth] = (await the.ledger.batches.withPending(the.mappingId)).filter((b) => b.tenant === 'north');

  await the.ledger.checkpoint(partition, the.polled(ofNorth!, [north]));

  expect((await the.ledger.batches.withPending(the.mappingId)).map((b) => b.tenant)).toEqual(['south']);
  expect(await the.ledger.waiting.backlog(the.mappingId, partition.runId)).toMatchObject({ waiting: 1, pending: 1 });
});

it('finds the children of one tenant after those of another, whatever their ids', async () => {
  const partition = await newPartition();
  const rows = [record('y', '1', 'north'), record('z', '1', 'north'), record('a', '1', 'south')];
  const waiting = rows.map((r) => waitOf(r, { reason: 'lacks_parent', dueIn: 3600 }));
  await the.ledger.checkpoint(partition, await outcome(null, rows, 'waiting', { waiting }));
  const now = await the.ledger.waiting.now();

  const found: string[] = [];
  const next = (after: RecordPlace) => the.ledger.waiting.lackingParents(the.mappingId, now, after, 1);
  for (let page = await next(FIRST_PLACE); page.length > 0; page = await next(page[0]!))
    found.push(...page.map((row) => `${row.tenantId}/${row.externalId}`));

  expect(found).toEqual(rows.map((r) => `${tenantId(r.tenant)}/${r.externalId}`));
});

it('reports why a parent will not come for the batch of its own tenant only', async () => {
  const partition = await bothPending();
  const [ofNorth] = (await the.ledger.batches.withPending(the.mappingId)).filter((b) => b.tenant === 'north');

  await the.ledger.waiting.setReason(ofNorth!.id, 'parent_missing', ['a']);

  expect(await the.ledger.waiting.backlog(the.mappingId, partition.runId)).toMatchObject({ waiting: 2, pending: 1 });
});

it('tells which records of which tenant and mapping wait, and which of them lack their parents', async () => {
  const { waiting } = the.ledger;
  const partition = await newPartition();
  const [lacking, contended, held] = [record('lacking', '1'), record('contended', '1'), record('held', '1')];
  await hold(partition, held);
  const parts = {
    waiting: [
      waitOf(lacking, { reason: 'lacks_parent', dueIn: 3600 }),
      waitOf(contended, { reason: 'contended', dueIn: 3600 }),
    ],
  };
  await the.ledger.checkpoint(partition, await outcome(null, [lacking, contended], 'waiting', parts));
  const own = the.mappingId;
  await the.newMapping();
  await bothWait({ reason: 'lacks_parent' });

  const ids = ['lacking', 'contended', 'held', 'a'];
  const keysOf = (tenant: string) => ids.map((externalId) => ({ tenantId: tenantId(tenant), externalId }));
  const place = (tenant: string, id: string): string => `${tenantId(tenant)}/${id}`;
  const ofNorth = await waiting.lackingParentsAmong(own, keysOf('north'));
  expect([...ofNorth]).toEqual([[place('north', 'lacking'), expect.objectContaining({ tries: 0, waits: 0 })]]);
  expect([...(await waiting.lackingParentsAmong(own, keysOf('north').slice(1)))]).toEqual([]);
  expect([...(await waiting.lackingParentsAmong(own, keysOf('south')))]).toEqual([]);
  const all = await waiting.among(own, [...keysOf('north'), ...keysOf('south')]);
  expect([...all.keys()].toSorted()).toEqual(['contended', 'held', 'lacking'].map((id) => place('north', id)));
  const ofAnother = await waiting.among(the.mappingId, keysOf('south'));
  expect([...ofAnother.keys()]).toEqual([place('south', 'a')]);
});

it('tells for how long at most the platform may keep what the run has sent, and which schemas their parents are of', async () => {
  const partition = await newPartition();
  const missing = (schemaName: string) => [{ schemaName, externalId: 'p' }];
  const keep = async (of: AcquiredPartition, r: MappedRecord, seconds: number, schema: string): Promise<void> => {
    const [batch] = (await claim(of, [r])).batches;
    await the.ledger.batches.markSent(batch!, 'platform-1');
    const expiresAt = new Date(Date.now() + seconds * 1000).toISOString();
    const wait = the.pending(r, batch!.id!, { expiresAt, missing: missing(schema) });
    const batches = [{ id: batch!.id!, pending: [r.externalId] }];
    await the.ledger.checkpoint(of, await outcome(null, [r], 'waiting', { batches, waiting: [wait] }));
  };
  await keep(partition, record('b', '1'), 1000, 'customer');
  await keep(partition, record('c', '1'), 100, 'shop');
  await keep(await newPartition(), record('d', '1'), 9000, 'of another run');
  const later = record('e', '1');
  const queued = waitOf(later, { reason: 'lacks_parent', dueIn: 5000, missing: missing('not sent') });
  await the.ledger.checkpoint(partition, await outcome(null, [later], 'waiting', { waiting: [queued] }));

  const backlog = await the.ledger.waiting.backlog(the.mappingId, partition.runId);
  expect(backlog).toMatchObject({ waiting: 4, pending: 2, dueSoon: 0, parents: ['customer', 'shop'] });
  expect(backlog.pendingFor).toBeGreaterThan(900);
  expect(backlog.pendingFor).toBeLessThan(1100);
});
