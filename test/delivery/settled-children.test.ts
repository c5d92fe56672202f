/** Batches with children: what the platform keeps or rejects for a parent, and what the ledger hears of it. */
import { expect, it } from 'vitest';
import type { BatchOutcomes, Outcome } from '../../src/delivery/upload/outcome.js';
import { recordOf } from '../../src/records/record-list.js';
import { success } from '../platform/stub-platform.js';
import { failed, has, kinds, NOTHING, outcomeOf, settle, statusOf, type Settling } from './settling.js';

/** Customers that refer to the one who has introduced them. */
const PROPERTIES = { introducedBy: { $ref: 'customer' } };
const child = (id: string, introducedBy: string) =>
  recordOf('north', id, [id], JSON.stringify({ customerId: id, introducedBy }));

const outcomesOf = async (settling: Settling): Promise<BatchOutcomes> =>
  (await settle({ properties: PROPERTIES, ...settling })).outcomes;

it('keeps what the platform says about a pending record: when it gives it up, and which parents it lacks', async () => {
  const pending = (missingDependencies: readonly object[]) => ({
    ...statusOf({ pending: 1 }),
    pendingResources: [{ resourceExternalId: 'a', expiresAt: '2026-01-02T00:00:00Z', missingDependencies }],
  });
  const settled = async (missing: readonly object[]): Promise<Outcome> =>
    outcomeOf(
      await outcomesOf({ records: [child('a', 'p')], ofBatch: success(pending(missing)), ofRecord: has() }),
      'a',
    );

  expect(await settled([{ schemaName: 'person', externalId: 'q' }])).toEqual({
    kind: 'pending',
    missing: [{ schemaName: 'person', externalId: 'q' }],
    expiresAt: '2026-01-02T00:00:00Z',
  });
  // Without the schema of each, the ids alone would not tell the parents.
  for (const missing of [[], [{ externalId: 'q' }], [{ schemaName: 'person', externalId: 'q' }, { externalId: 'r' }]])
    expect(await settled(missing)).toMatchObject({ missing: [{ schemaName: 'customer', externalId: 'p' }] });
});

it('says that the platform has not named a date, if it has not', async () => {
  const status = { ...statusOf({ pending: 1 }), pendingResources: [{ resourceExternalId: 'a' }] };
  const outcomes = await outcomesOf({ records: [child('a', 'p')], ofBatch: success(status), ofRecord: has() });
  expect(outcomeOf(outcomes, 'a')).toMatchObject({ expiresAt: null });
});

it('tells a record that is rejected while it lacks its parent from one that is rejected for itself', async () => {
  const [orphan, other] = [child('a', 'p'), child('b', 'c')];
  const status = statusOf({ failed: 2 }, [failed('b'), 'externalId "a": parent is missing']);
  const outcomes = await outcomesOf({
    records: [orphan, other],
    ofBatch: success(status),
    ofRecord: has(child('c', 'c')),
  });
  expect(outcomeOf(outcomes, 'a')).toEqual({
    kind: 'lacks_parent',
    proven: 'rejected',
    missing: [{ schemaName: 'customer', externalId: 'p' }],
    message: null,
  });
  expect(outcomeOf(outcomes, 'b')).toEqual({
    kind: 'rejected',
    message: '/name is too long',
    // No ledger shows that it was there before.
    lateParents: [{ schemaName: 'customer', externalId: 'c' }],
  });
});

it('keeps what else the platform blames for a record that lacks its parent', async () => {
  const outcomes = await outcomesOf({
    records: [child('a', 'p')],
    ofBatch: success(statusOf({ failed: 1 }, [failed('a')])),
    ofRecord: has(),
  });
  expect(outcomeOf(outcomes, 'a')).toMatchObject({ kind: 'lacks_parent', message: '/name is too long' });
});

it('knows of a record whose outcome nothing proves only that it lacks its parent', async () => {
  const outcomes = await outcomesOf({
    records: [child('a', 'p'), child('b', 'p')],
    ofBatch: success(statusOf({ ok: 2 }, [failed('a')])),
    ofRecord: has(),
  });
  expect(outcomeOf(outcomes, 'a')).toMatchObject({ kind: 'lacks_parent', proven: 'unknown', message: null });
});

it('looks up the parents of those that are not accepted only', async () => {
  const asked: string[] = [];
  await outcomesOf({
    records: [child('a', 'p'), child('b', 'q')],
    ofBatch: success(statusOf({ ok: 1, pending: 1 }, [], ['b'])),
    ofRecord: (id) => (asked.push(id), NOTHING),
  });
  expect(asked).toEqual(['q']);
});

it('takes children for pending that the platform only counts as such at the deadline, if it was asked to keep them', async () => {
  const status = statusOf({ pending: 1, total: 2, completed: false });
  const settled = async (dependencyWait: number): Promise<object> =>
    kinds(
      await outcomesOf({
        records: [child('a', 'c'), child('b', 'c')],
        ofBatch: success(status),
        ofRecord: has(child('a', 'c'), child('c', 'c')),
        batchDeadline: 0.2,
        dependencyWait,
        ledger: { batches: { doubt: () => Promise.resolve() } },
      }),
    );
  expect(await settled(60)).toEqual({ a: 'accepted', b: 'pending' });
  expect(await settled(0)).toEqual({ a: 'accepted', b: 'unknown' });
});

/** What the ledger is told of doubts while a batch of two is settled, of which nothing is stored but the first record. */
async function doubtsOf(how: { dependencyWait: number; batch?: { id: string | null }; stored?: boolean }) {
  const doubts: { ids: readonly string[]; tenantId: number; seconds: number }[] = [];
  const ledger = {
    batches: {
      doubt: (_: unknown, of: { externalIds: readonly string[]; tenantId: number }, seconds: number) => {
        doubts.push({ ids: of.externalIds, tenantId: of.tenantId, seconds });
        return Promise.resolve();
      },
    },
  };
  const records = [child('a', 'c'), child('b', 'c')];
  await outcomesOf({
    records,
    ofBatch: success(statusOf({ total: 2, completed: false })),
    ofRecord: has(records[0]!, child('c', 'c'), ...(how.stored === true ? [records[1]!] : [])),
    batchDeadline: 0.2,
    dependencyWait: how.dependencyWait,
    ledger,
    ...(how.batch !== undefined && { batch: how.batch }),
  });
  return doubts;
}

it('has the ledger doubt children whose outcome nothing proves, for as long as the platform may keep them', async () => {
  expect(await doubtsOf({ dependencyWait: 60 })).toEqual([{ ids: ['b'], tenantId: 1, seconds: 90 }]);
  expect(await doubtsOf({ dependencyWait: 0 })).toEqual([]);
  expect(await doubtsOf({ dependencyWait: 60, stored: true })).toEqual([]);
  // Nothing is kept of a batch that the ledger does not have.
  expect(await doubtsOf({ dependencyWait: 60, batch: { id: null } })).toEqual([]);
});
