/** Two readings of one row, however they overlap in time: an older one never overwrites a newer one. */
import { expect, it } from 'vitest';
import { ledgerForTests, record, type Read } from './ledger-for-tests.js';

const the = ledgerForTests();
const { newPartition, claim, outcome, deliver } = the;

/** `ABab`: the reading A begins, then B begins, A ends, B ends; nothing else draws a read sequence number between. */
async function readings(order: string): Promise<Record<'a' | 'b', Read>> {
  const drawn = new Map<string, string>();
  for (const moment of order) drawn.set(moment, await the.ledger.nextReadSeq());
  const of = (begins: string, ends: string): Read => ({
    readSeqStart: drawn.get(begins)!,
    readSeqEnd: drawn.get(ends)!,
  });
  return { a: of('A', 'a'), b: of('B', 'b') };
}

/** Whether B may be sent after A: only what was read wholly after A is surely not older. */
const ORDERS = [
  ['AaBb', 'sends what was read after', [undefined]],
  ['ABab', 'does not send what began to be read before the end of', ['contended']],
  ['ABba', 'does not send what was read during', ['contended']],
  ['BAab', 'does not send what was read around', ['contended']],
  ['BAba', 'does not send what began to be read before the beginning of', ['contended']],
  ['BbAa', 'does not send what was read before', ['contended']],
] as const;

it.each(ORDERS)('%s: %s the reading that was sent last', async (order, _title, skipReasons) => {
  const { a, b } = await readings(order);
  const [partition, sent] = [await newPartition(), [record('x', 'A')]];
  await the.ledger.checkpoint(
    partition,
    await outcome(await claim(partition, sent, a), sent, 'accepted', { readSeqs: a }),
  );

  expect((await claim(await newPartition(), [record('x', 'B')], b)).skipReasons).toEqual(skipReasons);
});

it.each(ORDERS)(
  '%s: %s the reading that found the record as the platform has it',
  async (order, _title, skipReasons) => {
    await deliver(await newPartition(), [record('x', 'A')]);
    const [seeing, changed] = [await newPartition(), await newPartition()];
    const { a, b } = await readings(order);
    expect((await claim(seeing, [record('x', 'A')], a)).skipReasons).toEqual(['unchanged']);

    expect((await claim(changed, [record('x', 'B')], b)).skipReasons).toEqual(skipReasons);
  },
);

it.each(ORDERS)('%s: %s the reading that a dead attempt had sent last', async (order, _title, skipReasons) => {
  const { a, b } = await readings(order);
  const dead = await newPartition();
  await claim(dead, [record('x', 'A')], a);
  const successor = await the.ledger.partitions.acquire(dead.id);
  const [left] = await the.ledger.batches.takeOverLeftBehind(successor);
  const { contentHash } = record('x', 'A');
  const tenantId = the.tenantIds.get('north')!;
  await the.ledger.batches.recover(successor, left!, {
    outcomes: [{ tenantId, externalId: 'x', contentHash, outcome: 'accepted' }],
    pending: [],
    dependencyWait: 0,
  });

  expect((await claim(await newPartition(), [record('x', 'B')], b)).skipReasons).toEqual(skipReasons);
});

it('remembers the newest reading even after an older one found the same content', async () => {
  const [slow, quick, between] = [await newPartition(), await newPartition(), await newPartition()];
  // The row is A, then B for a while, then A again: each of the three is read.
  const [first, second, third] = [
    await the.ledger.nextReadSeq(),
    await the.ledger.nextReadSeq(),
    await the.ledger.nextReadSeq(),
  ];
  const last = { readSeqStart: third, readSeqEnd: await the.ledger.nextReadSeq() };
  const sent = [record('x', 'A')];
  await the.ledger.checkpoint(
    quick,
    await outcome(await claim(quick, sent, last), sent, 'accepted', { readSeqs: last }),
  );

  const early = { readSeqStart: first, readSeqEnd: second };
  expect((await claim(slow, [record('x', 'A')], early)).skipReasons).toEqual(['unchanged']);

  expect((await claim(between, [record('x', 'B')], { readSeqStart: third, readSeqEnd: third })).skipReasons).toEqual([
    'contended',
  ]);
});
