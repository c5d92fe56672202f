/** Removal plans that need a decision of a person, and the records of one. */
import { assertKnown } from '../../cli/known-sync.js';
import { PartnerSyncError } from '../../domain/errors.js';
import type { RemovalPlan } from '../../domain/run/removal-plan.js';
import { quantity } from '../../domain/values/quantity.js';
import { links } from '../links.js';
import type { Page, PageRequest } from '../page.js';
import { ActionLink } from '../parts/action-link.js';
import { CommandLine } from '../parts/command-line.js';
import { DataTable } from '../parts/data-table.js';
import { count, numbers, State } from '../parts/values.js';

const SHOWN = 200;

const crumbsOf = (sync: string) => [{ label: 'removals', href: links.removals(sync) }];

export const removalsPage: Page = {
  path: '/syncs/:sync/removals',
  async load({ parts, params, settings }) {
    const sync = params['sync']!;
    const { removals, runs } = await parts.ledger();
    const [plans, working] = await Promise.all([removals.needingAttention(sync), runs.notEnded(sync)]);
    if (plans.length === 0) await assertKnown(parts, sync);
    const held = new Set(working.map(({ id }) => id));
    return {
      title: `Removal plans of ${sync}`,
      crumbs: crumbsOf(sync),
      sync,
      body: (
        <>
          <p>
            A run in mode mirror found these records without a row, and so many that a person has to approve their
            removal.
          </p>
          <DataTable
            caption="Removal plans that need a decision"
            columns={['plan', 'mapping', 'state', ...numbers('records', 'of accepted'), 'run', 'decide']}
            rows={plans.map((plan) => [
              <a href={links.removalPlan(sync, plan.plan)}>{plan.plan}</a>,
              plan.mapping,
              <State name={plan.state} />,
              count(plan.records),
              count(plan.accepted),
              <a href={links.run(sync, plan.run)}>{plan.run}</a>,
              <Decide sync={sync} plan={plan} isHeld={held.has(plan.run)} settings={settings} />,
            ])}
            none="No removal plan needs a decision."
          />
          <CommandLine args={['removals', sync]} />
        </>
      ),
    };
  },
};

interface DecideProps {
  readonly sync: string;
  readonly plan: RemovalPlan;
  /** Whether its run is on hold for it, so that approving lets that run continue. */
  readonly isHeld: boolean;
  readonly settings: PageRequest['settings'];
}

function Decide({ sync, plan: { plan, mapping, run, state }, isHeld, settings }: DecideProps) {
  if (state === 'empty') return <>The source has no row of {mapping}: nothing is removed.</>;
  return isHeld ? (
    <ActionLink action="approve" values={{ sync, mapping, run, cause: 'gone' }} label="Approve" settings={settings} />
  ) : (
    <ActionLink action="approve-removals" values={{ sync, plan }} label="Carry out" settings={settings} />
  );
}

export const removalPlanPage: Page = {
  path: '/syncs/:sync/removals/:plan',
  async load({ parts, params }) {
    const [sync, id] = [params['sync']!, params['plan']!];
    const { removals } = await parts.ledger();
    const plan = (await removals.needingAttention(sync)).find((each) => each.plan === id);
    if (plan === undefined)
      throw new PartnerSyncError('input_invalid', `no removal plan ${id} of ${sync} is awaiting approval`);
    const records = await removals.page(id, null, SHOWN);
    return {
      title: `Removal plan ${id} of ${sync}`,
      crumbs: [...crumbsOf(sync), { label: `plan ${id}`, href: links.removalPlan(sync, id) }],
      sync,
      body: (
        <>
          <p>
            {quantity(plan.records, 'record')} of {plan.mapping}, of {count(plan.accepted)} accepted.
          </p>
          <DataTable
            caption={`Records of plan ${id}`}
            columns={['external id', 'tenant']}
            rows={records.map(({ externalId, tenant }) => [
              <a href={links.record(sync, plan.mapping, externalId)}>{externalId}</a>,
              tenant,
            ])}
            none="The plan has no record."
          />
          {records.length < plan.records ? <p>The first {SHOWN} are shown.</p> : null}
          <CommandLine args={['removals', sync, id, '--limit', 'all']} />
        </>
      ),
    };
  },
};
