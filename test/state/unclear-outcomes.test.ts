/** What the ledger takes for the platform's content after an outcome that was not acceptance. */
import { expect, it } from 'vitest';
import type { MappedRecord } from '../../src/domain/record.js';
import type { RecordOutcome } from '../../src/state/record-outcomes.js';
import { ledgerForTests, record } from './ledger-for-tests.js';

const the = ledgerForTests();
const { newRange, claim, outcome, deliver } = the;

const outcomeOf = (r: MappedRecord, end: RecordOutcome['outcome']): RecordOutcome => ({
  ...{ tenantId: the.tenantIds.get(r.tenant)!, externalId: r.externalId, contentHash: r.contentHash, outcome: end },
});

/** The record is on the platform; then its row changes, is sent, and ends so. */
async function changedAndSent(end: RecordOutcome['outcome']): Promise<void> {
  const range = await newRange();
  await deliver(range, [record('a', 'old')]);
  const changed = record('a', 'new');
  const claimed = await claim(range, [changed]);
  const records = [outcomeOf(changed, end)];
  await the.ledger.checkpoint(range, await outcome(claimed, [changed], 'deadLettered', { records }));
}

it('sends a record again whose last outcome nobody knows, though its row is what was accepted before', async () => {
  await changedAndSent('unclear');

  // The row is as it was, but the platform may have the version in between.
  expect((await claim(await newRange(), [record('a', 'old')])).verdicts).toEqual([undefined]);
});

it('sends a record again that a dead attempt left unclear, though its row is what was accepted before', async () => {
  const dead = await newRange();
  await deliver(dead, [record('a', 'old')]);
  await claim(dead, [record('a', 'new')]);
  const successor = await the.ledger.ranges.take(dead.id);
  const [left] = await the.ledger.batches.leftBehind(successor);

  await the.ledger.batches.recover(successor, left!, [outcomeOf(record('a', 'new'), 'unclear')], []);

  expect((await claim(await newRange(), [record('a', 'old')])).verdicts).toEqual([undefined]);
});

it('does not send again what was accepted before the platform rejected a later version', async () => {
  await changedAndSent('rejected');

  expect((await claim(await newRange(), [record('a', 'old')])).verdicts).toEqual(['unchanged']);
  expect((await claim(await newRange(), [record('a', 'new')])).verdicts).toEqual([undefined]);
});
