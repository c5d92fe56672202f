/** Batches with children: what the platform keeps or rejects for a parent, and what the ledger hears of it. */
import { expect, it } from 'vitest';
import { ALL_ACCEPTED, type BatchOutcomes, type Outcome } from '../../src/delivery/upload/outcome.js';
import { recordOf, RecordList } from '../../src/records/record-list.js';
import { answer, success, type Answer } from '../platform/stub-platform.js';
import { failed, kinds, NOTHING, recordNamed, settle, statusOf } from './settling.js';

/** Customers that refer to the one who has introduced them. */
const PROPERTIES = { introducedBy: { $ref: 'customer' } };
const child = (id: string, introducedBy: string) =>
  recordOf('north', id, [id], JSON.stringify({ customerId: id, introducedBy }));

/** The platform has these records, as they were sent. */
const has =
  (...records: readonly ReturnType<typeof child>[]) =>
  (id: string): Answer => {
    const record = records.find(({ externalId }) => externalId === id);
    return record === undefined ? NOTHING : success({ result: { resourceExternalId: id, data: record.data } });
  };

const outcomesOf = async (settling: Omit<Parameters<typeof settle>[0], 'properties'>): Promise<BatchOutcomes> =>
  (await settle({ properties: PROPERTIES, ...settling })).outcomes;
const outcomeOf = (outcomes: BatchOutcomes, id: string): Outcome => (outcomes as ReadonlyMap<string, Outcome>).get(id)!;

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

it.each([
  ['counts as many failures as it names, the others are pending', ['a'], 1, { a: 'rejected', b: 'pending' }],
  ['names none, each may be pending', [], 1, { a: 'pending', b: 'pending' }],
  ['names more than it counts, each may be pending', ['a', 'b'], 1, { a: 'pending', b: 'pending' }],
])('if the platform counts a record as pending and lists none, and %s', async (_, names, count, expected) => {
  const status = { ...statusOf({ failed: count, pending: 2 - count }, names.map(failed)), pendingResources: [] };
  const outcomes = (
    await settle({ records: [recordNamed('a'), recordNamed('b')], ofBatch: success(status), ofRecord: has() })
  ).outcomes;
  expect(kinds(outcomes)).toEqual(expected);
});

it('takes no record for rejected or pending if more are absent than the platform counts', async () => {
  const status = statusOf({ ok: 1, failed: 1 }, [failed('a'), failed('b')]);
  const outcomes = (
    await settle({ records: [recordNamed('a'), recordNamed('b')], ofBatch: success(status), ofRecord: has() })
  ).outcomes;
  expect(kinds(outcomes)).toEqual({ a: 'unknown', b: 'unknown' });
});

/** What `deletes` has the platform set in a record whose row is gone. */
const mark = (id: string) => recordOf('north', id, [id], JSON.stringify({ customerId: id, status: 'gone' }), 'apply');

it('takes the mark of a record that the platform never had for done, and that of one that it has for rejected', async () => {
  const records = [mark('a'), mark('b')];
  const settled = async (ofRecord: (id: string) => Answer): Promise<object> =>
    kinds((await settle({ records, ofBatch: success(statusOf({ failed: 2 })), ofRecord })).outcomes);
  const old = success({ result: { resourceExternalId: 'b', data: { customerId: 'b', status: 'old' } } });
  expect(await settled((id) => (id === 'b' ? old : NOTHING))).toEqual({ a: 'accepted', b: 'rejected' });
});

it('takes a mark for done beside a record that is rejected, and for nothing at the deadline of its batch', async () => {
  const settled = async (counts: Parameters<typeof statusOf>[0], batchDeadline?: number): Promise<object> =>
    kinds(
      (
        await settle({
          records: [mark('a'), recordNamed('b')],
          ofBatch: success(statusOf(counts)),
          ofRecord: has(),
          ...(batchDeadline !== undefined && { batchDeadline }),
        })
      ).outcomes,
    );
  expect(await settled({ failed: 2 })).toEqual({ a: 'accepted', b: 'rejected' });
  expect(await settled({ total: 2, completed: false }, 0.2)).toEqual({ a: 'unknown', b: 'unknown' });
});

it('looks no record up whose outcome the counters prove, beside one that is listed as pending', async () => {
  const { outcomes } = await settle({
    records: [recordNamed('a'), recordNamed('b')],
    ofBatch: success(statusOf({ ok: 1, pending: 1 }, [], ['b'])),
    ofRecord: () => expect.fail('was looked up'),
  });
  expect(kinds(outcomes)).toEqual({ a: 'accepted', b: 'pending' });
});

it('looks all records up if one that is named as failed is stored in another form, and says that the counters do not fit', async () => {
  const warnings: unknown[] = [];
  const settled = async (run: string, third: Answer): Promise<object> => {
    const other = success({ result: { resourceExternalId: '2', data: { customerId: '2', name: 'NEW' } } });
    const { outcomes } = await settle({
      records: ['1', '2', '3'].map(recordNamed),
      ofBatch: success(statusOf({ ok: 1, failed: 2 }, [failed('1'), failed('2')])),
      ofRecord: (id) => (id === '1' ? NOTHING : id === '2' ? other : third),
      run,
      warnings,
    });
    return kinds(outcomes);
  };
  expect(await settled('fits', has(recordNamed('3'))('3'))).toEqual({ 1: 'rejected', 2: 'rejected', 3: 'accepted' });
  expect(warnings).toEqual([]);
  expect(await settled('does not fit', NOTHING)).toEqual({ 1: 'unknown', 2: 'unknown', 3: 'unknown' });
  expect(warnings).toEqual(['batch_inconsistent']);
});

it.each([
  ['is not processed', success(statusOf({ ok: 1, total: 3, completed: false }, [], ['c']))],
  ['is unknown to the platform', answer(404, { success: false, message: 'no such batch' })],
])('believes only what is stored, and what is listed as pending, if a batch %s at its deadline', async (_, ofBatch) => {
  const records = [recordNamed('a'), recordNamed('b'), recordNamed('c')];
  const { outcomes } = await settle({ records, ofBatch, ofRecord: has(recordNamed('a')), batchDeadline: 0.2 });
  const isListed = _ === 'is not processed';
  expect(kinds(outcomes)).toEqual({ a: 'accepted', b: 'unknown', c: isListed ? 'pending' : 'unknown' });
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

it('writes a batch with pending records that the ledger does not have, so that it is polled later', async () => {
  const inserted: unknown[] = [];
  const ledger = {
    batches: {
      insertSent: (partition: object, readSeq: string, { tenant }: { tenant: string }, platformBatchId: string) => {
        inserted.push([partition, readSeq, tenant, platformBatchId]);
        return Promise.resolve('7');
      },
    },
  };
  const settled = async (status: object, id: string | null): Promise<string | null> =>
    (
      await settle({
        records: [recordNamed('a'), recordNamed('b')],
        ofBatch: success(status),
        ofRecord: has(),
        ledger,
        batch: { id },
      })
    ).batch.id;

  const onePending = statusOf({ ok: 1, pending: 1 }, [], ['b']);
  expect(await settled(onePending, null)).toBe('7');
  expect(inserted).toEqual([[{ runId: '1' }, '17', 'north', 'p1']]);
  expect(await settled(onePending, '1')).toBe('1');
  expect(await settled(statusOf({ failed: 2 }), null)).toBeNull();
  expect(await settled(statusOf({ ok: 2 }), null)).toBeNull();
  expect(inserted).toHaveLength(1);
});

it("reports no outcome before the ledger has the platform's id of the batch", async () => {
  const lost = Promise.reject(new Error('the ledger is away'));
  lost.catch(() => undefined);
  const settled = settle({
    records: [recordNamed('a')],
    ofBatch: success(statusOf({ ok: 1 })),
    ofRecord: has(),
    batch: { recorded: lost, records: RecordList.of([recordNamed('a')]) },
  });
  await expect(settled).rejects.toThrow('the ledger is away');
});

it('looks a record up again if that fails, in the queue of its tenant', async () => {
  let lookUps = 0;
  const queues: string[] = [];
  const { outcomes } = await settle({
    records: [recordNamed('a')],
    ofBatch: success(statusOf({ total: 1 })),
    ofRecord: (id) => (++lookUps === 1 ? answer(503, { success: false }) : has(recordNamed('a'))(id)),
    queues,
  });
  expect(kinds(outcomes)).toEqual({ a: 'accepted' });
  expect(queues).toEqual(['north', 'north']);
});

it('ends with the reason if records must not be looked up at all', async () => {
  const settled = settle({
    records: [recordNamed('a')],
    ofBatch: success(statusOf({ total: 1 })),
    ofRecord: () => answer(403, { success: false, message: 'no' }),
  });
  await expect(settled).rejects.toMatchObject({ code: 'platform_unauthorized' });
});

it('says nothing more of a record whose outcome nothing proves', async () => {
  const { outcomes } = await settle({
    records: [recordNamed('a')],
    ofBatch: success(statusOf({ total: 1 })),
    ofRecord: has(),
  });
  expect(outcomeOf(outcomes, 'a')).toEqual({ kind: 'unknown' });
});

it('makes no outcome for each record if all are accepted', async () => {
  const { outcomes } = await settle({
    records: [recordNamed('a'), recordNamed('b')],
    ofBatch: success(statusOf({ ok: 2 })),
    ofRecord: has(),
  });
  expect(outcomes).toBe(ALL_ACCEPTED);
});

it('has nothing to say about a record that the platform rejects without a word', async () => {
  const { errors: _, ...wordless } = statusOf({ failed: 1 });
  const { outcomes } = await settle({
    records: [recordNamed('a')],
    ofBatch: success(wordless),
    ofRecord: has(),
  });
  expect(outcomeOf(outcomes, 'a')).toEqual({ kind: 'rejected', message: '', lateParents: [] });
});

it('shows the name of a schema in what the platform says, and masks other words in quotes', async () => {
  const { outcomes } = await settle({
    records: [recordNamed('a')],
    ofBatch: success(statusOf({ failed: 1 }, ['"invoice" needs "secret"'])),
    ofRecord: has(),
    schemas: ['invoice'],
  });
  expect(outcomeOf(outcomes, 'a')).toMatchObject({ message: '"invoice" needs <text(6) aaaaaa>' });
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
