/** What an approval of a removal plan covers: its records, of its tenant and mapping, for its action. */
import { randomUUID } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import { FIRST_PLACE } from '../../src/ledger/record-key.js';
import type { OpenPlan } from '../../src/ledger/removals.js';
import type { AcquiredPartition } from '../../src/ledger/runs/partitions.js';
import { ledgerForTests, record } from './ledger-for-tests.js';

const the = ledgerForTests();
const { newPartition, deliver } = the;
const MARK = '{"status":"gone"}';

let partition: AcquiredPartition;
beforeEach(async () => {
  partition = await newPartition();
  await deliver(
    partition,
    ['north', 'south'].flatMap((tenant) => ['a', 'b'].map((id) => record(id, '1', tenant))),
  );
});

/** A plan of a new run that found these records gone, `tenant/id`. */
async function planOf(gone: readonly string[], { action = MARK, mappingId = the.mappingId } = {}): Promise<OpenPlan> {
  const { runId } = await newPartition();
  const plan = await the.ledger.removals.open(runId, mappingId, action);
  const keys = gone.map((key) => key.split('/') as [string, string]);
  const tenantIds = keys.map(([tenant]) => the.tenantIds.get(tenant)!);
  await the.ledger.removals.add(plan, { tenantIds, externalIds: keys.map(([, id]) => id) }, FIRST_PLACE);
  return plan;
}
const approved = async (...plan: Parameters<typeof planOf>): Promise<OpenPlan> => {
  const made = await planOf(...plan);
  await the.ledger.removals.decide(made, 'awaiting_approval', { records: 1, accepted: 4 });
  await the.ledger.removals.approve([made.id], { sync: 'shop', run: '1', actor: { who: 'ana', origin: 'cli' } });
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
const stateOf = async ({ id }: OpenPlan): Promise<string> => {
  const [row] = await the.database.query<{ state: string }>(
    'SELECT state FROM partner_sync.removal_plans WHERE id = $1',
    [id],
  );
  return row!.state;
};
const recordsOf = async ({ id }: OpenPlan): Promise<string[]> =>
  (await the.ledger.removals.page(id, null, 10)).map(({ tenant, externalId }) => `${tenant}/${externalId}`);

it('awaits no approval of a plan of a mapping whose file, or `deletes`, is gone', async () => {
  const { removals, runs } = the.ledger;
  const [{ name }] = (await the.database.query<{ name: string }>(
    'SELECT name FROM partner_sync.mappings WHERE id = $1',
    [the.mappingId],
  )) as [{ name: string }];
  const plan = await planOf(['north/a']);
  await removals.decide(plan, 'awaiting_approval', { records: 1, accepted: 4 });
  const isAwaited = async () => (await removals.awaitingApproval('shop')).some((each) => each.plan === plan.id);

  // Its run still works, perhaps with other files.
  await removals.replaceOthers('shop', []);
  expect(await isAwaited()).toBe(true);
  await runs.end((await runOf(plan))!, 'incomplete');
  await removals.replaceOthers('shop', [name]);
  expect(await isAwaited()).toBe(true);
  await removals.replaceOthers('shop', ['another']);
  expect(await isAwaited()).toBe(false);
  expect(await recordsOf(plan)).toEqual([]);
});

it('needs no second approval for records that were approved, even after a plan that was never reviewed', async () => {
  const first = await approved(['north/a']);
  await the.ledger.removals.decide(await planOf(['north/a', 'north/b']), 'awaiting_approval', {
    records: 2,
    accepted: 4,
  });

  expect(await unapproved(await planOf(['north/a', 'north/b']))).toBe(1);
  expect(await recordsOf(first)).toEqual(['north/a']);
});

it('does not treat a plan that awaits approval as approved', async () => {
  await the.ledger.removals.decide(await planOf(['north/a']), 'awaiting_approval', { records: 1, accepted: 4 });
  expect(await unapproved(await planOf(['north/a']))).toBe(1);
});

it('lists a plan whose source is empty as one that needs attention, not as one that awaits approval', async () => {
  const sync = randomUUID();
  const planIn = async (state: 'awaiting_approval' | 'empty'): Promise<string> => {
    const plan = await planOf([], { mappingId: await the.ledger.ids.mappingId(sync, state) });
    await the.ledger.removals.decide(plan, state, { records: 0, accepted: 4 });
    return plan.id;
  };
  const [awaiting, empty] = [await planIn('awaiting_approval'), await planIn('empty')];
  const { removals } = the.ledger;

  expect((await removals.awaitingApproval(sync)).map((p) => p.plan)).toEqual([awaiting]);
  expect((await removals.needingAttention(sync)).map((p) => p.plan)).toEqual([awaiting, empty]);
});

it("does not take the approval of one tenant's record for one of another tenant's", async () => {
  await approved(['north/a']);
  expect(await unapproved(await planOf(['south/a']))).toBe(1);
  expect(await unapproved(await planOf(['north/a']))).toBe(0);
});

it('does not apply the approval of one action to another', async () => {
  await approved(['north/a']);
  expect(await unapproved(await planOf(['north/a'], { action: '{"status":"deleted"}' }))).toBe(1);
});

it('does not apply the approval for one mapping to another', async () => {
  await approved(['north/a'], { mappingId: await the.ledger.ids.mappingId('shop', randomUUID()) });
  expect(await unapproved(await planOf(['north/a']))).toBe(1);
});

it('deletes the records of a finished plan, and keeps the plans of other mappings', async () => {
  const other = await approved(['north/a'], { mappingId: await the.ledger.ids.mappingId('shop', randomUUID()) });
  const waiting = await planOf(['north/b'], { mappingId: await the.ledger.ids.mappingId('shop', randomUUID()) });
  const plan = await approved(['north/a']);
  await the.ledger.runs.end((await runOf(plan))!, 'incomplete');
  const last = await planOf(['north/a', 'south/a']);
  await the.ledger.removals.decide(last, 'due', { records: 2, accepted: 4 });

  await the.ledger.removals.finish(last);

  expect([await recordsOf(plan), await recordsOf(last)]).toEqual([[], []]);
  expect([await recordsOf(other), await recordsOf(waiting)]).toEqual([['north/a'], ['north/b']]);
  const states = await the.database.query('SELECT state FROM partner_sync.removal_plans WHERE id = ANY ($1)', [
    [other.id, waiting.id],
  ]);
  expect(states).toEqual([{ state: 'awaiting_approval' }, { state: 'finding' }]);
});

it('does not let an attempt decide again if it was frozen while another carried out the plan', async () => {
  const plan = await planOf(['north/a']);
  await the.ledger.removals.decide(plan, 'due', { records: 1, accepted: 4 });
  await the.ledger.removals.finish(plan);

  await the.ledger.removals.decide(plan, 'due', { records: 1, accepted: 4 });

  expect((await the.ledger.removals.ofRun((await runOf(plan))!)).map((p) => p.state)).toEqual(['done']);
});

it('continues after the last record of a page with those of the next tenant, whatever their ids', async () => {
  const plan = await planOf(['north/a', 'north/b', 'south/a']);
  const { removals } = the.ledger;
  const all: string[] = [];
  let page = await removals.page(plan.id, null, 1);
  while (page.length > 0) {
    all.push(...page.map(({ tenant, externalId }) => `${tenant}/${externalId}`));
    page = await removals.page(plan.id, page.at(-1)!, 1);
  }
  expect(all).toEqual(['north/a', 'north/b', 'south/a']);
});

it('is not needed for a plan of changed rows alone once these have come back, unless its run goes on', async () => {
  const { removals, runs } = the.ledger;
  const make = async (
    id: string,
    { state = 'awaiting_approval', searched = false, isRunning = false, hasChangedRow = false } = {},
  ): Promise<OpenPlan> => {
    const plan = await planOf([`north/${id}`]);
    // Each would otherwise replace the one before.
    await the.database.query('UPDATE partner_sync.removal_plans SET state = $2, searched = $3 WHERE id = $1', [
      plan.id,
      state,
      searched,
    ]);
    if (!isRunning) await runs.end((await runOf(plan))!, 'incomplete');
    if (hasChangedRow)
      await the.database.query(
        `INSERT INTO partner_sync.changed_rows (mapping_id, key_hash, key, plan_id) VALUES ($1, sha256('changed'), $2, $3)`,
        [the.mappingId, [id], plan.id],
      );
    return plan;
  };
  const ofAnother = await make('another', {});
  await the.newMapping();
  const settled = await make('settled', {});
  const empty = await make('empty', { state: 'empty' });
  const searched = await make('searched', { searched: true });
  const running = await make('running', { isRunning: true });
  const due = await make('due', { state: 'due' });
  const changed = await make('changed', { hasChangedRow: true });
  await removals.replaceSettled(the.mappingId);

  const left = async (plan: OpenPlan) => [await stateOf(plan), await recordsOf(plan)];
  for (const plan of [settled, empty]) expect(await left(plan)).toEqual(['replaced', []]);
  expect(await left(searched)).toEqual(['awaiting_approval', ['north/searched']]);
  expect(await left(running)).toEqual(['awaiting_approval', ['north/running']]);
  expect(await left(due)).toEqual(['due', ['north/due']]);
  expect(await left(changed)).toEqual(['awaiting_approval', ['north/changed']]);
  expect(await left(ofAnother)).toEqual(['awaiting_approval', ['north/another']]);
});
