/** The check of cron expressions and the gaps between their times, compared with Temporal, which runs them: each becomes a schedule on a server. */
import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { longestCronGap } from '../../src/mapping/language/cron-gap.js';
import { cronProblem } from '../../src/mapping/language/cron-problem.js';

let connection: Connection;
beforeAll(async () => {
  connection = await Connection.connect({ address: inject('temporalAddress') });
});
afterAll(() => connection.close());

/** Whether Temporal makes a schedule of it. */
async function isTaken(expression: string): Promise<boolean> {
  const { schedule } = new Client({ connection });
  try {
    const handle = await schedule.create({
      scheduleId: `cron-${randomUUID()}`,
      spec: { cronExpressions: [expression], timezone: 'UTC' },
      action: { type: 'startWorkflow', workflowType: 'sync', taskQueue: 'nobody', args: [] },
      state: { paused: true },
    });
    await handle.delete();
    return true;
  } catch (error) {
    // What the client makes of "Invalid schedule spec".
    expect(error).toBeInstanceOf(TypeError);
    return false;
  }
}

/** The longest time in seconds between two of the next ten starts that Temporal plans; null if there are not two. */
async function plannedGap(expression: string): Promise<number | null> {
  const handle = await new Client({ connection }).schedule.create({
    scheduleId: `cron-${randomUUID()}`,
    spec: { cronExpressions: [expression], timezone: 'UTC' },
    action: { type: 'startWorkflow', workflowType: 'sync', taskQueue: 'nobody', args: [] },
  });
  const { info } = await handle.describe();
  await handle.delete();
  const times = info.nextActionTimes.map((time) => time.getTime() / 1000);
  return times.length < 2 ? null : Math.max(...times.slice(1).map((time, i) => time - times[i]!));
}

const TAKEN = [
  '* * * * *',
  '30 3 * * *',
  '*/15 * * * *',
  '0 9-17/2 * * 1-5',
  '0,30 8 1,15 * *',
  '5/15 * * * *',
  '0 0 31 12 *',
  '0 9 * * mon-fri',
  '0 9 * * MON',
  '0 9 * * monday',
  '0 9 * * mo',
  '0 0 1 jan *',
  '0 0 1 Sept *',
  '0 0 * * 7',
  '0 0 * * 5-7',
  '0 0 1 1 * 2030',
  '0 0 1 1 * 2025-2030/2',
  '30 0 9 * * * *',
  '+5 * * * *',
  '  0  9 * *  1 ',
  '0 9 * * 1 # on Mondays',
  '0 9 * * 1#2',
  '@daily',
  '@midnight',
  '@hourly',
  '@weekly',
  '@monthly',
  '@yearly',
  '@annually # once',
];

const REFUSED = [
  '',
  '* * * *',
  '* * * * * * * *',
  '60 * * * *',
  '* 24 * * *',
  '* * 0 * *',
  '* * 32 * *',
  '* * * 13 *',
  '* * * * 8',
  '*/0 * * * *',
  '*/-1 * * * *',
  '*/x * * * *',
  '*/ * * * *',
  '1/2/3 * * * *',
  '0 17-9 * * *',
  '0 1-2-3 * * *',
  '0 9 * * m',
  '0 9 * * montag',
  '0 0 1 ja *',
  '0 9 * * sat-sun',
  '0 0 L * *',
  '0 0 15W * *',
  '0 0 ? * *',
  '-5 * * * *',
  '1,,2 * * * *',
  '0 0 1 1 * 1999',
  '60 0 9 * * * *',
  '*/99999999999999999999 * * * *',
  '@reboot',
  '0x5 * * * *',
  '5. * * * *',
];

describe('the check of a cron expression', () => {
  it.each(TAKEN)('accepts "%s", as Temporal does', async (expression) => {
    expect(cronProblem(expression)).toBeUndefined();
    expect(await isTaken(expression)).toBe(true);
  });

  it.each(REFUSED)('refuses "%s", as Temporal does', async (expression) => {
    expect(cronProblem(expression)).toBeTypeOf('string');
    expect(await isTaken(expression)).toBe(false);
  });

  it.each(['@every 1h', 'TZ=Europe/London 0 9 * * *', 'CRON_TZ=UTC 0 9 * * *'])(
    'leaves "%s" to the keys every and timezone',
    (expression) => {
      expect(cronProblem(expression)).toMatch(/that is the key (every|timezone)$/);
    },
  );
});

describe('the longest gap between the times of a cron expression', () => {
  it.each([
    '*/15 * * * *',
    '5/20 * * * *',
    '0 8,20 * * *',
    '30 3 * * *',
    '15 30 3 * * * *',
    '0 9 * * mon-fri',
    '0 9 * * 5-7',
    '0 0 1 * *',
    '0 0 1-7 * 1',
    '0 0 1 1,7 *',
    '0 0 29 2 *',
    '0 0 1 1 * 2030',
    '@hourly',
    '@weekly # on Sundays',
  ])('is what Temporal plans for "%s"', async (expression) => {
    expect(longestCronGap(expression, new Date())).toBe(await plannedGap(expression));
  });

  it('is found beyond the next few times', () => {
    const hours = 3600;
    const workingTime = '*/10 8-17 * * 1-5';
    expect(longestCronGap(workingTime, new Date('2026-03-02T08:00:00Z'))).toBe((24 - 17 + 48 + 8) * hours - 50 * 60);
  });
});
