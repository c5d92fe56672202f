/** What an approval of a removal plan covers: these records of this tenant and mapping, for this action. */
import { randomUUID } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import type { OpenPlan } from '../../src/state/removals.js';
import type { TakenRange } from '../../src/state/ranges.js';
import { ledgerForTests, record } from './ledger-for-tests.js';

const the = ledgerForTests();
const { newRange, deliver } = the;
const MARK = '{"status":"gone"}';

let range: TakenRange;
beforeEach(async () => {
  range = await newRange();
  await deliver(
    range,
    ['north', 'south'].flatMap((tenant) => ['a', 'b'].map((id) => record(id, '1', tenant))),
  );
});

/** A plan of a new run that found these records gone, `tenant/id`. */
async function planOf(gone: readonly string[], { action = MARK, mappingId = the.mappingId } = {}): Promise<OpenPlan> {
  const { runId } = await newRange();
  const plan = await the.ledger.removals.open(runId, mappingId, action);
  const walked = { tenantId: 0, low: Buffer.alloc(0), records: [] };
  const keys = gone.map((key) => key.split('/') as [string, string]);
  const tenantIds = keys.map(([tenant]) => the.tenantIds.get(tenant)!);
  await the.ledger.removals.add(plan, { tenantIds, externalIds: keys.map(([, id]) => id) }, walked);
  return plan;
}
const approved = async (...plan: Parameters<typeof planOf>): Promise<OpenPlan> => {
  const made = await planOf(...plan);
  await the.ledger.removals.decide(made, 'held', { records: 1, accepted: 4 });
  await the.ledger.removals.approve([made.id]);
  return made;
};
/** How many of the plan's records nobody has approved. */
const unapproved = async (plan: OpenPlan): Promise<number> =>
  (await the.ledger.removals.count(plan)).reduce((sum, tenant) => sum + tenant.unapproved, 0);
const runOf = async ({ id }: OpenPlan): Promise<string | undefined> =>
  (
    await the.database.query<{ run: string }>(
      'SELECT run_id::text AS run FROM partner_sync.removal_plans WHERE id = $1',
      [id],
    )
  )[0]?.run;
const recordsOf = async ({ id }: OpenPlan): Promise<string[]> =>
  (await the.ledger.removals.page(id, null, 10)).map(({ tenant, externalId }) => `${tenant}/${externalId}`);

it('needs no second word for records that were approved, also after a plan that nobody looked at', async () => {
  const first = await approved(['north/a']);
  await the.ledger.removals.decide(await planOf(['north/a', 'north/b']), 'held', { records: 2, accepted: 4 });

  expect(await unapproved(await planOf(['north/a', 'north/b']))).toBe(1);
  expect(await recordsOf(first)).toEqual(['north/a']);
});

it('takes no plan for approved that only waits', async () => {
  await the.ledger.removals.decide(await planOf(['north/a']), 'held', { records: 1, accepted: 4 });
  expect(await unapproved(await planOf(['north/a']))).toBe(1);
});

it("takes the approval of one tenant's record for no word on another tenant's", async () => {
  await approved(['north/a']);
  expect(await unapproved(await planOf(['south/a']))).toBe(1);
  expect(await unapproved(await planOf(['north/a']))).toBe(0);
});

it('takes the approval of one action for no word on another one', async () => {
  await approved(['north/a']);
  expect(await unapproved(await planOf(['north/a'], { action: '{"status":"deleted"}' }))).toBe(1);
});

it('takes the approval for one mapping for no word on another one', async () => {
  await approved(['north/a'], { mappingId: await the.ledger.catalog.mappingId('shop', randomUUID()) });
  expect(await unapproved(await planOf(['north/a']))).toBe(1);
});

it('forgets the records of a plan that is done, and leaves the plans of other mappings as they are', async () => {
  const other = await approved(['north/a'], { mappingId: await the.ledger.catalog.mappingId('shop', randomUUID()) });
  const waiting = await planOf(['north/b'], { mappingId: await the.ledger.catalog.mappingId('shop', randomUUID()) });
  const plan = await approved(['north/a']);
  const last = await planOf(['north/a', 'south/a']);
  await the.ledger.removals.decide(last, 'due', { records: 2, accepted: 4 });

  await the.ledger.removals.finish(last);

  expect([await recordsOf(plan), await recordsOf(last)]).toEqual([[], []]);
  expect([await recordsOf(other), await recordsOf(waiting)]).toEqual([['north/a'], ['north/b']]);
  const states = await the.database.query('SELECT state FROM partner_sync.removal_plans WHERE id = ANY ($1)', [
    [other.id, waiting.id],
  ]);
  expect(states).toEqual([{ state: 'held' }, { state: 'finding' }]);
});

it('lets an attempt that was frozen while it looked decide nothing any more', async () => {
  const plan = await planOf(['north/a']);
  await the.ledger.removals.decide(plan, 'due', { records: 1, accepted: 4 });
  await the.ledger.removals.finish(plan);

  await the.ledger.removals.decide(plan, 'due', { records: 1, accepted: 4 });

  expect((await the.ledger.removals.ofRun((await runOf(plan))!)).map((p) => p.state)).toEqual(['done']);
});

it('goes on behind the last record of a page with those of the next tenant, whatever their ids', async () => {
  const plan = await planOf(['north/a', 'north/b', 'south/a']);
  const { removals } = the.ledger;
  const all: string[] = [];
  for (let page = await removals.page(plan.id, null, 1); page.length > 0;) {
    all.push(...page.map(({ tenant, externalId }) => `${tenant}/${externalId}`));
    page = await removals.page(plan.id, page.at(-1)!, 1);
  }
  expect(all).toEqual(['north/a', 'north/b', 'south/a']);
});
