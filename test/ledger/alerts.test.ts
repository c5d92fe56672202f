/** What was wrong with a sync, kept so that each change is noticed once and told until it has arrived. */
import { randomUUID } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import type { HealthProblem, HealthTrigger } from '../../src/domain/sync-health.js';
import type { DueAlert } from '../../src/ledger/alerts.js';
import { ledgerForTests } from './ledger-for-tests.js';

const the = ledgerForTests();
let sync: string;
beforeEach(() => {
  sync = randomUUID();
});

const SUBSCRIPTIONS = (['failing', 'late'] as const).map((problem) => ({ target: 'a', problem }));
const look = (...triggers: HealthTrigger[]) =>
  the.ledger.alerts.look(sync, SUBSCRIPTIONS, () =>
    triggers.map((trigger): HealthProblem => ({ trigger, what: `it is ${trigger}` })),
  );
const due = async (): Promise<string[]> =>
  (await the.ledger.alerts.due(sync, SUBSCRIPTIONS)).map(
    ({ problem, version, endedAt, begun }) =>
      `${problem} ${version}${endedAt === null ? '' : ' over'}${begun ? ' begun' : ''}`,
  );
const tellAll = async (): Promise<readonly DueAlert[]> => {
  const alerts = await the.ledger.alerts.due(sync, SUBSCRIPTIONS);
  for (const alert of alerts) await the.ledger.alerts.told(alert);
  return alerts;
};

it('looks that come together find a change once', async () => {
  const looked = await Promise.all(Array.from({ length: 8 }, () => look('failing')));
  expect(looked).toEqual(Array(8).fill({ open: 1, due: ['a'] }));
  expect(await due()).toEqual(['failing 1']);
});

it('what is not noted as told stays due, in the last version only', async () => {
  await look('failing');
  await look();
  await look('failing', 'late');
  expect((await due()).sort()).toEqual(['failing 3', 'late 1']);
  await tellAll();
  expect(await look('failing', 'late')).toEqual({ open: 2, due: [] });
  await look('late');
  expect(await due()).toEqual(['failing 4 over begun']);
});

it('a delivery that comes late does not take back what was told since', async () => {
  await look('failing');
  const [first] = await the.ledger.alerts.due(sync, SUBSCRIPTIONS);
  await look();
  await tellAll();
  await the.ledger.alerts.told(first!);
  expect(await due()).toEqual([]);
});

it('a problem that nobody is told of is kept, and told to a target that comes later', async () => {
  expect(await look('waiting')).toEqual({ open: 1, due: [] });
  const later = [{ target: 'b', problem: 'waiting' as const }];
  expect(await the.ledger.alerts.due(sync, later)).toEqual([]);
  expect(await the.ledger.alerts.unfinished(sync)).toMatchObject([
    { problem: 'waiting', what: 'it is waiting', untold: [] },
  ]);
  await the.ledger.alerts.look(sync, later, () => [{ trigger: 'waiting', what: 'it still is' }]);
  expect(await the.ledger.alerts.due(sync, later)).toMatchObject([{ what: 'it still is', begun: false }]);
  expect(await the.ledger.alerts.unfinished(sync)).toMatchObject([{ untold: ['b'] }]);
});

it('what is over and told to all is finished', async () => {
  await look('failing');
  await tellAll();
  expect(await the.ledger.alerts.unfinished(sync)).toHaveLength(1);
  await look();
  expect(await the.ledger.alerts.unfinished(sync)).toMatchObject([
    { endedAt: expect.any(Date) as Date, untold: ['a'] },
  ]);
  await tellAll();
  expect(await the.ledger.alerts.unfinished(sync)).toEqual([]);
});
