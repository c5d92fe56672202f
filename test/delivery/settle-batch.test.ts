/** What the status of a batch proves about each of its records, and how the outcomes of the others are found. */
import { expect, it } from 'vitest';
import { provenByCounters, isProcessed } from '../../src/delivery/upload/batch-status.js';
import { ALL_ACCEPTED, type BatchOutcomes } from '../../src/delivery/upload/outcome.js';
import type { MappedRecord } from '../../src/domain/records/record.js';
import type { BatchStatus } from '../../src/platform/contract/batches.js';
import { answer, success } from '../platform/stub-platform.js';
import { failed, kinds, NOTHING, recordNamed, settledBatch, statusOf } from './settling.js';

const countsOf = (total: number, processed: number, successful: number, pending: number): BatchStatus['progress'] => ({
  totalRecords: total,
  processedRecords: processed,
  successfulRecords: successful,
  pendingRecords: pending,
  failedRecords: 0,
});
it.each([
  ['all were accepted', statusOf({ ok: 3 }), 3, 'accepted accepted accepted'],
  ['none was accepted', statusOf({ failed: 3 }), 3, 'rejected rejected rejected'],
  ['some wait', statusOf({ ok: 2, pending: 1 }, [], ['c']), 3, 'accepted accepted waiting'],
  ['one has failed, and is named', statusOf({ ok: 2, failed: 1 }, [failed('a')]), 3, '? ? ?'],
  ['one has failed, and none is named', statusOf({ ok: 2, failed: 1 }, ['/name is too long']), 3, '? ? ?'],
  ['more wait than are listed', statusOf({ ok: 1, pending: 2 }, [], ['c']), 3, '? ? waiting'],
  ['more are listed than wait', statusOf({ ok: 3 }, [], ['c']), 3, '? ? waiting'],
  ['one is named as failed that is not counted', statusOf({ ok: 3 }, [failed('a')]), 3, '? ? ?'],
  ['the counters are of fewer records than were sent', statusOf({ ok: 2 }), 3, '? ? ?'],
  ['the counters are of more records than were sent', statusOf({ ok: 4 }), 3, '? ? ?'],
  ['nothing is counted yet', statusOf({ total: 3, completed: false }), 3, '? ? ?'],
])('accepts only outcomes that the counters prove, if %s', (_, status, sent, expected) => {
  const { listed, outcomeOfUnlisted: unlisted } = provenByCounters(status, ['a', 'b', 'c'], sent);
  expect(['a', 'b', 'c'].map((id) => (listed.has(id) ? 'waiting' : (unlisted ?? '?'))).join(' ')).toBe(expected);
});

it.each([
  ['the platform says that it is complete', statusOf({ ok: 1, total: 3 }), 1, true],
  [
    'it is complete since the year 1',
    { ...statusOf({ ok: 1, total: 3 }), completedAt: '0001-01-01T00:00:00Z' },
    1,
    false,
  ],
  ['it is complete since the month 0', { ...statusOf({ ok: 1, total: 3 }), completedAt: '0000-00-00 00:00' }, 1, false],
  [
    'it writes times in a form of its own',
    { ...statusOf({ ok: 1, total: 3 }), completedAt: '25.11.2026 10h' },
    1,
    true,
  ],
  ['it is complete since no time at all', { ...statusOf({ ok: 1, total: 3 }), completedAt: '' }, 1, false],
  ['nothing is open but what waits', statusOf({ ok: 2, pending: 1, completed: false }, [], ['c']), 1, true],
  ['some are counted as pending and not listed', statusOf({ ok: 2, pending: 1, completed: false }), 1, false],
  ['these stay pending', statusOf({ ok: 2, pending: 1, completed: false }), 3, true],
  ['some are not processed yet', statusOf({ ok: 1, pending: 1, total: 3, completed: false }, [], ['c']), 9, false],
  [
    'those that wait count as processed',
    { ...statusOf({ ok: 1, pending: 1, completed: false }, [], ['c']), progress: countsOf(3, 2, 1, 1) },
    9,
    false,
  ],
  ['all are processed, but it is not complete', statusOf({ ok: 3, completed: false }), 9, false],
  ['nothing has happened', statusOf({ total: 3, completed: false }), 9, false],
])('decides whether a batch of three is settled, if %s', (_, status, polls, expected) => {
  expect(isProcessed(status, 3, polls)).toBe(expected);
});

const NEW = recordNamed('a');

/** A batch of one record, whose status is this, and of which the platform stores so much (null: nothing). */
const settled = (status: BatchStatus, stored: object | null, onConflict: 'upsert' | 'reject'): Promise<BatchOutcomes> =>
  settledBatch(
    [NEW],
    success(status),
    () => (stored === null ? NOTHING : success({ result: { resourceExternalId: 'a', data: stored } })),
    onConflict,
  );

const outcomeOf = (outcomes: BatchOutcomes): string =>
  outcomes === ALL_ACCEPTED ? 'accepted' : outcomes.get('a')!.kind;

const UNKNOWN = statusOf({ total: 1 });
const REFUSED = statusOf({ failed: 1 }, [failed('a')]);
const OLD = { customerId: 'a', name: 'old' };
it.each([
  ['unknown', 'the version that was sent', NEW.data, UNKNOWN, 'upsert', 'accepted'],
  ['unknown', 'an older version', OLD, UNKNOWN, 'upsert', 'unknown'],
  ['unknown', 'nothing', null, UNKNOWN, 'upsert', 'unknown'],
  ['refused', 'the version that was sent', NEW.data, REFUSED, 'upsert', 'rejected'],
  ['refused since it exists', 'the version that was sent', NEW.data, REFUSED, 'reject', 'accepted'],
  ['refused since it exists', 'an older version', OLD, REFUSED, 'reject', 'rejected'],
] as const)(
  'reads back a record that is %s if the platform stores %s',
  async (_, _stored, stored, status, how, outcome) => {
    expect(outcomeOf(await settled(status, stored, how))).toBe(outcome);
  },
);

it.each([
  ['another one has failed', statusOf({ ok: 1, failed: 1 })],
  ['another one waits', statusOf({ ok: 1, pending: 1 })],
  ['one has failed by its name', statusOf({ ok: 1 }, [failed('a')])],
  ['one waits by its name', statusOf({ ok: 1 }, [], ['a'])],
])('does not consider the whole batch accepted if %s', async (_, status) => {
  expect(await settled(status, OLD, 'upsert')).not.toBe(ALL_ACCEPTED);
});

const [ONE, TWO, THREE] = ['1', '2', '3'].map(recordNamed) as [MappedRecord, MappedRecord, MappedRecord];

it('takes no record for the failed one because a message seems to name it and the platform has its name in another form', async () => {
  const status = statusOf({ ok: 2, failed: 1 }, ['record 1: name is invalid']);
  // The index of the record that has failed is the id of another one.
  const outcomes = await settledBatch([ONE, TWO, THREE], success(status), (id) =>
    id === '2' ? NOTHING : success({ result: { resourceExternalId: id, data: { customerId: id, name: 'New' } } }),
  );
  expect(kinds(outcomes)).toEqual({ 1: 'unknown', 2: 'unknown', 3: 'unknown' });
});

it('does not read back others than those that failed by name, if the platform has none of these', async () => {
  const asked: string[] = [];
  const status = statusOf({ ok: 2, failed: 1 }, [failed('2')]);
  const outcomes = await settledBatch([ONE, TWO, THREE], success(status), (id) => (asked.push(id), NOTHING));
  expect(kinds(outcomes)).toEqual({ 1: 'accepted', 2: 'rejected', 3: 'accepted' });
  expect(asked).toEqual(['2']);
});

it.each([
  ['', []],
  [', also if a message seems to name it', ['record 1: name is invalid']],
])('leaves it open whether a record is stored that the platform refuses to look up%s', async (_, messages) => {
  const status = statusOf({ ok: 2, failed: 1 }, messages);
  const refused = answer(400, { success: false, message: 'no such path' });
  const outcomes = await settledBatch([ONE, TWO, THREE], success(status), () => refused);
  expect(kinds(outcomes)).toEqual({ 1: 'unknown', 2: 'unknown', 3: 'unknown' });
});
