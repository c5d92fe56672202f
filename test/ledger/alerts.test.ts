/** What was wrong with a sync, kept so that each change is detected once and due until it is delivered. */
import { randomUUID } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import type { HealthProblem, HealthTrigger } from '../../src/domain/monitoring/sync-health.js';
import type { DueAlert } from '../../src/ledger/alerts.js';
import { ledgerForTests } from './ledger-for-tests.js';

const the = ledgerForTests();
let sync: string;
beforeEach(() => {
  sync = randomUUID();
});

const SUBSCRIPTIONS = (['failing', 'late'] as const).map((problem) => ({ target: 'a', problem }));
const evaluate = (...triggers: HealthTrigger[]) =>
  the.ledger.alerts.evaluate(sync, SUBSCRIPTIONS, () =>
    triggers.map((trigger): HealthProblem => ({ trigger, what: `it is ${trigger}` })),
  );
const due = async (): Promise<string[]> =>
  (await the.ledger.alerts.due(sync, SUBSCRIPTIONS)).map(
    ({ problem, version, endedAt, begun }) =>
      `${problem} ${version}${endedAt === null ? '' : ' over'}${begun ? ' begun' : ''}`,
  );
const deliverAll = async (): Promise<readonly DueAlert[]> => {
  const alerts = await the.ledger.alerts.due(sync, SUBSCRIPTIONS);
  for (const alert of alerts) await the.ledger.alerts.recordDelivery(alert);
  return alerts;
};

it('evaluations at the same time find a change once', async () => {
  const found = await Promise.all(Array.from({ length: 8 }, () => evaluate('failing')));
  expect(found).toEqual(Array(8).fill({ open: 1, due: ['a'] }));
  expect(await due()).toEqual(['failing 1']);
});

it('what is not recorded as delivered stays due, in the last version only', async () => {
  await evaluate('failing');
  await evaluate();
  await evaluate('failing', 'late');
  expect((await due()).sort()).toEqual(['failing 3', 'late 1']);
  await deliverAll();
  expect(await evaluate('failing', 'late')).toEqual({ open: 2, due: [] });
  await evaluate('late');
  expect(await due()).toEqual(['failing 4 over begun']);
});

it('a delivery that comes late does not take back later ones', async () => {
  await evaluate('failing');
  const [first] = await the.ledger.alerts.due(sync, SUBSCRIPTIONS);
  await evaluate();
  await deliverAll();
  await the.ledger.alerts.recordDelivery(first!);
  expect(await due()).toEqual([]);
});

it('a problem that nobody is notified of is kept, and due for a target that comes later', async () => {
  expect(await evaluate('waiting')).toEqual({ open: 1, due: [] });
  const later = [{ target: 'b', problem: 'waiting' as const }];
  expect(await the.ledger.alerts.due(sync, later)).toEqual([]);
  expect(await the.ledger.alerts.unfinished(sync)).toMatchObject([
    { problem: 'waiting', what: 'it is waiting', undeliveredTo: [] },
  ]);
  await the.ledger.alerts.evaluate(sync, later, () => [{ trigger: 'waiting', what: 'it still is' }]);
  expect(await the.ledger.alerts.due(sync, later)).toMatchObject([{ what: 'it still is', begun: false }]);
  expect(await the.ledger.alerts.unfinished(sync)).toMatchObject([{ undeliveredTo: ['b'] }]);
});

it('what is over and delivered to all is finished', async () => {
  await evaluate('failing');
  await deliverAll();
  expect(await the.ledger.alerts.unfinished(sync)).toHaveLength(1);
  await evaluate();
  expect(await the.ledger.alerts.unfinished(sync)).toMatchObject([
    { endedAt: expect.any(Date) as Date, undeliveredTo: ['a'] },
  ]);
  await deliverAll();
  expect(await the.ledger.alerts.unfinished(sync)).toEqual([]);
});
