/** Two readings of one row, however they lie beside each other in time: an older one never overwrites a newer one. */
import { expect, it } from 'vitest';
import { ledgerForTests, record, type Reading } from './ledger-for-tests.js';

const the = ledgerForTests();
const { newRange, claim, outcome, deliver } = the;

/** `ABab`: the reading A begins, then B begins, A ends, B ends; nothing else draws a stamp between. */
async function readings(order: string): Promise<Record<'a' | 'b', Reading>> {
  const drawn = new Map<string, string>();
  for (const moment of order) drawn.set(moment, await the.ledger.stamp());
  const of = (begins: string, ends: string): Reading => ({ before: drawn.get(begins)!, after: drawn.get(ends)! });
  return { a: of('A', 'a'), b: of('B', 'b') };
}

/** Whether B may be sent after A: only what was read wholly after A is surely not older. */
const ORDERS = [
  ['AaBb', 'sends what was read after', [undefined]],
  ['ABab', 'does not send what was begun to be read just before the end of', ['busy']],
  ['ABba', 'does not send what was read within', ['busy']],
  ['BAab', 'does not send what was read around', ['busy']],
  ['BAba', 'does not send what was begun to be read just before', ['busy']],
  ['BbAa', 'does not send what was read before', ['busy']],
] as const;

it.each(ORDERS)('%s: %s the reading that was sent last', async (order, _, verdicts) => {
  const { a, b } = await readings(order);
  const [range, sent] = [await newRange(), [record('x', 'A')]];
  const reading = { kind: 'first', ...a } as const;
  await the.ledger.checkpoint(range, await outcome(await claim(range, sent, a), sent, 'accepted', { reading }));

  expect((await claim(await newRange(), [record('x', 'B')], b)).verdicts).toEqual(verdicts);
});

it.each(ORDERS)('%s: %s the reading that found the record as the platform has it', async (order, _, verdicts) => {
  await deliver(await newRange(), [record('x', 'A')]);
  const [seeing, changed] = [await newRange(), await newRange()];
  const { a, b } = await readings(order);
  expect((await claim(seeing, [record('x', 'A')], a)).verdicts).toEqual(['unchanged']);

  expect((await claim(changed, [record('x', 'B')], b)).verdicts).toEqual(verdicts);
});

it.each(ORDERS)('%s: %s the reading that a dead attempt had sent last', async (order, _, verdicts) => {
  const { a, b } = await readings(order);
  const dead = await newRange();
  await claim(dead, [record('x', 'A')], a);
  const successor = await the.ledger.ranges.take(dead.id);
  const [left] = await the.ledger.batches.leftBehind(successor);
  const { contentHash } = record('x', 'A');
  const tenantId = the.tenantIds.get('north')!;
  await the.ledger.batches.recover(
    successor,
    left!,
    [{ tenantId, externalId: 'x', contentHash, outcome: 'accepted' }],
    [],
  );

  expect((await claim(await newRange(), [record('x', 'B')], b)).verdicts).toEqual(verdicts);
});

it('knows of the newest reading also after an older one has found the same content', async () => {
  const [slow, quick, between] = [await newRange(), await newRange(), await newRange()];
  // The row is A, then B for a while, then A again: each of the three is read.
  const [first, second, third] = [await the.ledger.stamp(), await the.ledger.stamp(), await the.ledger.stamp()];
  const last = { before: third, after: await the.ledger.stamp() };
  const sent = [record('x', 'A')];
  const reading = { kind: 'first', ...last } as const;
  await the.ledger.checkpoint(quick, await outcome(await claim(quick, sent, last), sent, 'accepted', { reading }));

  const early = { before: first, after: second };
  expect((await claim(slow, [record('x', 'A')], early)).verdicts).toEqual(['unchanged']);

  expect((await claim(between, [record('x', 'B')], { before: third, after: third })).verdicts).toEqual(['busy']);
});
