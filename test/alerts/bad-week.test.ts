/**
 * A bad week, whose faults befall the same sync of several partners in one night: each is told within two minutes, by a
 * notification and by Prometheus; nothing wrong is sent; and each ends with the commands of docs/something-is-wrong.md.
 *
 * The two minutes are promised, so here a test may depend on the clock.
 */
import { beforeAll, expect, it } from 'vitest';
import { commandLinesOf, diagnose, entryOf, execute, lineLike, SOMETHING_IS_WRONG } from '../docs/runbook.js';
import { isHere } from '../here.js';
import { eventually } from '../pipeline/shop.js';
import { build } from '../pipeline/worker-process.js';
import { FAULTS, tableOf, type Fault } from './faults-of-the-week.js';
import { applyNightly, openWeek, type Week } from './week.js';

beforeAll(build);

/** Seconds. */
const PROMISED = 120;
/** A partner whom nothing befalls. */
const WELL = 'well';
const SYNCS = [...FAULTS.map(({ sync }) => sync), WELL];

const FIRING = 'ALERTS{alertstate="firing"}';
const firing = async ({ prometheus }: Week): Promise<string[]> =>
  (await prometheus.query(FIRING)).map(({ metric }) => `${metric['sync']} ${metric['alertname']}`).sort();

/** Waits until people are told of a fault; returns after how many seconds a notification did it, and Prometheus. */
async function toldOf(week: Week, { sync, problem, what, alert, metric }: Fault, night: Date): Promise<number[]> {
  const patience = PROMISED + (night.getTime() - Date.now()) / 1000;
  const since = (): number => (Date.now() - night.getTime()) / 1000;
  const isShown = async (): Promise<boolean> =>
    alert === undefined
      ? (await week.prometheus.query(`${metric} == 1`)).length > 0
      : (await firing(week)).includes(`${sync} ${alert}`);
  return Promise.all([
    eventually(`a notification of ${sync}`, () => Promise.resolve(notificationsOf(week, sync)[0]), patience).then(
      (notification) => {
        expect(notification).toMatchObject({
          state: 'problem',
          problem,
          what: expect.stringMatching(what) as string,
        });
        return since();
      },
    ),
    eventually(`${alert ?? metric} of ${sync}`, isShown, patience, 1000).then(since),
  ]);
}

const notificationsOf = ({ webhook }: Week, sync: string) =>
  webhook.notifications().filter((each) => each.sync === sync);

/** What the platform has of a partner. */
const recordsOf = ({ shop }: Week, tenant: string) =>
  shop.store.query('SELECT external_id, data::text FROM sandbox.resources WHERE tenant_id = $1 ORDER BY 1', [tenant]);

/** Ends a fault as the page says. */
async function endAsThePageSays(week: Week, fault: Fault): Promise<void> {
  const { sync, problem, shows, answer, mend, fix } = fault;
  const env = week.envOf(sync);
  const [ids] = await week.shop.state.query<{ run: string; plan: string | null }>(
    `SELECT max(r.id)::text AS run, max(p.id)::text AS plan
     FROM partner_sync.runs r LEFT JOIN partner_sync.removal_plans p ON p.run_id = r.id WHERE r.sync = $1`,
    [sync],
  );
  const values = { sync, mapping: 'customers', 'external-id': '1', run: ids!.run, plan: ids!.plan ?? '' };
  await diagnose(shows, values, env, answer);
  await mend(week);
  if (fix === undefined) return;
  const { code, stdout, stderr } = await execute(lineLike(entryOf(problem).fix, fix), values, env);
  expect(code, stdout + stderr).toBe(0);
}

it.runIf(isHere('Prometheus'))(
  'each fault is told within two minutes, sends nothing wrong, and ends as docs/something-is-wrong.md says',
  async () => {
    const week = await openWeek(SYNCS);
    const night = await applyNightly(week, SYNCS);
    for (const sync of SYNCS.filter((each) => each !== 'deleted'))
      await week.shop.source.query(
        `UPDATE ${tableOf(sync)} SET name = 'renamed', updated_at = clock_timestamp() WHERE id = 7`,
      );
    for (const { begin } of FAULTS) await begin(week);
    const before = await Promise.all(FAULTS.map(({ sync }) => recordsOf(week, sync)));
    expect(Date.now()).toBeLessThan(night.getTime());

    const seconds = await Promise.all(FAULTS.map((fault) => toldOf(week, fault, night)));
    for (const each of seconds.flat()) expect(each).toBeLessThan(PROMISED);
    expect(await firing(week)).toEqual(
      FAULTS.flatMap(({ sync, alert }) => (alert === undefined ? [] : [`${sync} ${alert}`])).sort(),
    );
    expect(await Promise.all(FAULTS.map(({ sync }) => recordsOf(week, sync)))).toEqual(before);

    for (const fault of FAULTS) await endAsThePageSays(week, fault);
    const isOver = ({ sync, problem }: Fault): boolean =>
      notificationsOf(week, sync).some((each) => each.state === 'recovered' && each.problem === problem);
    for (const fault of FAULTS)
      await eventually(`the end of the problem of ${fault.sync}`, () => Promise.resolve(isOver(fault)), PROMISED);
    await eventually('no alert fires', async () => (await firing(week)).length === 0, PROMISED, 1000);
    const compare = lineLike(commandLinesOf(SOMETHING_IS_WRONG.text), /^reconcile/);
    for (const sync of SYNCS)
      for (const line of ['status <sync>', compare]) {
        const { code, stdout, stderr } = await execute(line, { sync }, week.envOf(sync));
        expect(code, `${sync}: ${stdout}${stderr}`).toBe(0);
      }
    expect(notificationsOf(week, WELL)).toEqual([]);
  },
);
