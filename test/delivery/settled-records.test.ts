/** Which records of a batch are looked up, what is made of what is found, and what the ledger gets of the batch. */
import { expect, it } from 'vitest';
import { ALL_ACCEPTED } from '../../src/delivery/upload/outcome.js';
import { recordOf } from '../../src/records/record-list.js';
import { answer, success, type Answer } from '../platform/stub-platform.js';
import { failed, has, kinds, NOTHING, outcomeOf, recordNamed, settle, statusOf } from './settling.js';

it('makes no outcome for each record if all are accepted', async () => {
  const { outcomes } = await settle({
    records: [recordNamed('a'), recordNamed('b')],
    ofBatch: success(statusOf({ ok: 2 })),
    ofRecord: has(),
  });
  expect(outcomes).toBe(ALL_ACCEPTED);
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

it('takes no record for rejected or pending if more are absent than the platform counts', async () => {
  const status = statusOf({ ok: 1, failed: 1 }, [failed('a'), failed('b')]);
  const { outcomes } = await settle({
    records: [recordNamed('a'), recordNamed('b')],
    ofBatch: success(status),
    ofRecord: has(),
  });
  expect(kinds(outcomes)).toEqual({ a: 'unknown', b: 'unknown' });
});

it.each([
  ['counts as many failures as it names, the others are pending', ['a'], 1, { a: 'rejected', b: 'pending' }],
  ['names none, each may be pending', [], 1, { a: 'pending', b: 'pending' }],
  ['names more than it counts, each may be pending', ['a', 'b'], 1, { a: 'pending', b: 'pending' }],
])('if the platform counts a record as pending and lists none, and %s', async (_, names, count, expected) => {
  const status = { ...statusOf({ failed: count, pending: 2 - count }, names.map(failed)), pendingResources: [] };
  const { outcomes } = await settle({
    records: [recordNamed('a'), recordNamed('b')],
    ofBatch: success(status),
    ofRecord: has(),
  });
  expect(kinds(outcomes)).toEqual(expected);
});

it('says nothing more of a record whose outcome nothing proves', async () => {
  const { outcomes } = await settle({
    records: [recordNamed('a')],
    ofBatch: success(statusOf({ total: 1 })),
    ofRecord: has(),
  });
  expect(outcomeOf(outcomes, 'a')).toEqual({ kind: 'unknown' });
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

it.each([
  ['is not processed', success(statusOf({ ok: 1, total: 3, completed: false }, [], ['c'])), 'pending'],
  ['is unknown to the platform', answer(404, { success: false, message: 'no such batch' }), 'unknown'],
])('believes what is stored and what is listed as pending if a batch %s at its deadline', async (_, ofBatch, c) => {
  const records = [recordNamed('a'), recordNamed('b'), recordNamed('c')];
  const { outcomes } = await settle({ records, ofBatch, ofRecord: has(recordNamed('a')), batchDeadline: 0.2 });
  expect(kinds(outcomes)).toEqual({ a: 'accepted', b: 'unknown', c });
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
    batch: { recorded: lost },
  });
  await expect(settled).rejects.toThrow('the ledger is away');
});
