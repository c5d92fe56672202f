/** What the ledger considers to be the platform's content after an outcome other than accepted. */
import { expect, it } from 'vitest';
import type { MappedRecord } from '../../src/domain/records/record.js';
import type { SentRecord } from '../../src/ledger/outcomes/sent-records.js';
import { ledgerForTests, record } from './ledger-for-tests.js';

const the = ledgerForTests();
const { newPartition, claim, outcome, deliver } = the;

const outcomeOf = (r: MappedRecord, outcome: SentRecord['outcome']): SentRecord => ({
  tenantId: the.tenantIds.get(r.tenant)!,
  externalId: r.externalId,
  contentHash: r.contentHash,
  outcome,
});

/** The record is on the platform; then its row changes and is sent, with this outcome. */
async function changedAndSent(sentOutcome: SentRecord['outcome']): Promise<void> {
  const partition = await newPartition();
  await deliver(partition, [record('a', 'old')]);
  const changed = record('a', 'new');
  const claimed = await claim(partition, [changed]);
  const sent = [the.sent(changed, sentOutcome)];
  await the.ledger.checkpoint(partition, await outcome(claimed, [changed], 'deadLettered', { sent }));
}

it('sends a record with an unknown last outcome again, even if its row equals what was accepted before', async () => {
  await changedAndSent('unknown');

  // The row is as it was, but the platform may have the version in between.
  expect((await claim(await newPartition(), [record('a', 'old')])).skipReasons).toEqual([undefined]);
});

it('sends a record that a dead attempt left unknown again, even if its row equals what was accepted before', async () => {
  const dead = await newPartition();
  await deliver(dead, [record('a', 'old')]);
  await claim(dead, [record('a', 'new')]);
  const successor = await the.ledger.partitions.acquire(dead.id);
  const [left] = await the.ledger.batches.takeOverLeftBehind(successor);

  await the.ledger.batches.recover(successor, left!, {
    outcomes: [outcomeOf(record('a', 'new'), 'unknown')],
    pending: [],
    dependencyWait: 0,
  });

  expect((await claim(await newPartition(), [record('a', 'old')])).skipReasons).toEqual([undefined]);
});

it('does not send again what was accepted before the platform rejected a later version', async () => {
  await changedAndSent('rejected');

  expect((await claim(await newPartition(), [record('a', 'old')])).skipReasons).toEqual(['unchanged']);
  expect((await claim(await newPartition(), [record('a', 'new')])).skipReasons).toEqual([undefined]);
});

it('sends a record again that was rejected once an earlier copy of it was in doubt, even if its row equals what was accepted before', async () => {
  const partition = await newPartition();
  await deliver(partition, [record('a', 'old')]);
  const changed = record('a', 'new');
  const claimed = await claim(partition, [changed]);
  // The platform may apply the copy whose response was lost, whatever it says to the next one.
  const { tenantId, externalId, contentHash } = outcomeOf(changed, 'unknown');
  const content = { tenantId, externalIds: [externalId], contentHashes: [contentHash] };
  await the.ledger.batches.doubt(partition, content, 0);
  const sent = [the.sent(changed, 'rejected')];
  await the.ledger.checkpoint(partition, await outcome(claimed, [changed], 'deadLettered', { sent }));

  expect((await claim(await newPartition(), [record('a', 'old')])).skipReasons).toEqual([undefined]);
});
