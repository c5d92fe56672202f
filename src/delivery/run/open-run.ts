/** Opens a run: checks what it was asked for, takes the sync's lease and returns the stages in order. */
import { ERROR_CATALOGUE, PartnerSyncError, type ErrorCode } from '../../domain/errors.js';
import type { RunInput } from '../../domain/run/run.js';
import { milliseconds } from '../../domain/timeouts.js';
import { declaredFeeds } from '../../domain/sync/declared-feeds.js';
import { isRunMode, removesRecords, type SyncSpec, type TenantConfig } from '../../domain/sync/sync.js';
import type { FeedOfRun, NotNeeded, OpenedRun, OpenRunInput } from '../../domain/run/work.js';
import { actorOf, type RunRow } from '../../ledger/runs/runs.js';
import { quoted } from '../../domain/values/quoted.js';
import { keptFiles } from '../../mapping/kept-files.js';
import { runningOrder } from '../../mapping/order/running-order.js';
import type { Dependencies } from '../dependencies.js';
import { endAbandoned, type RunWorkflows } from './end-abandoned.js';
import { forgetOtherSchemas } from './other-schemas.js';
import { assertFormerTenants } from './former-tenants.js';
import { assertSamePlatform } from './same-platform.js';
import { validatedMappings, connectedMappings, modeOf } from './run-request.js';

/**
 * `workflowId`: that of the workflow which opens the run.
 *
 * @throws PartnerSyncError `input_invalid` or `config_invalid` if the run cannot do what it was asked for,
 *   `run_in_progress` if another run is in its way, `other_platform` if the sync delivers to another platform
 */
export async function openRun(
  deps: Dependencies,
  opening: OpenRunInput,
  workflowId: string,
  workflows: RunWorkflows,
): Promise<Omit<OpenedRun, 'searchAttributes'> | NotNeeded> {
  const { kind, input } = opening;
  const run = await beginOrContinue(deps, opening, workflowId);
  // The attempt before was the first to find out why.
  if (run.ended_at !== null) throw endedAlready(run);
  await endAbandoned(deps.ledger, run.sync, workflows, run.id);
  if (input.continues === undefined) await assertSamePlatform(deps, run);
  // Another attempt at opening the run may have begun it with other files.
  const { spec } = await deps.openSync(input.sync, run.id);
  const { mode } = run;
  const chosen = validatedMappings(spec, mode, input);
  if (kind === 'sync') {
    const other = await takeLease(deps, run);
    if (other !== null) return { activeRun: { run: other.id, workflowId: other.workflow_id } };
    await deps.ledger.ids.keepMappings(
      spec.name,
      spec.mappings.map(({ name }) => name),
    );
    const removing = spec.mappings.filter(removesRecords);
    await deps.ledger.removals.replaceOthers(
      spec.name,
      removing.map(({ name }) => name),
    );
  }
  const schemaNotes = await forgetOtherSchemas(deps, run, spec);
  const isOnlyRun = (await deps.ledger.runs.notEnded(spec.name)).every(({ id }) => id === run.id);
  // Limits that somebody set during an earlier run were for that run; a backfill that they slow down goes on under them.
  if (kind === 'sync' && input.continues === undefined && isOnlyRun) await deps.ledger.fleet.setRate(spec.name, null);
  const marking = spec.mappings.filter((mapping) => chosen.has(mapping.name) && removesRecords(mapping));
  await assertFormerTenants(deps, run, input, marking);
  await approveRemovals(deps, run, input);
  const order = runningOrder(spec.mappings);
  const connected = connectedMappings(spec, chosen);
  const feeds = isRunMode(mode) ? feedsOf(spec, chosen) : [];
  const stages = order
    .map(({ firstPass, full }) => ({
      firstPass: firstPass.filter((name) => chosen.has(name)),
      full: full.filter((name) => chosen.has(name)),
    }))
    .filter(({ firstPass, full }) => firstPass.length + full.length > 0);
  return {
    runId: run.id,
    sync: spec.name,
    mode,
    polled: order.flatMap((stage) => stage.full).filter((name) => connected.has(name)),
    ...(schemaNotes.length > 0 && { schemaNotes }),
    waitForPending: spec.upload.waitForPending,
    failOn: spec.failOn,
    manyTenants: isRunMode(mode) && hasManyTenants(spec.tenant),
    ...(feeds.length > 0 && { feeds }),
    ...(mode === 'live' && { liveUntil: run.started_at.getTime() + milliseconds('liveReport') }),
    guardWait: spec.guard?.wait ?? null,
    stages: stages.map((stage) => stage.full),
    // A replay makes both passes over each chunk (deliver-rows.ts).
    firstPass: input.replay === undefined ? stages.map((stage) => stage.firstPass) : [],
  };
}

/** Why another attempt at opening the run has ended it. */
const endedAlready = ({ id, sync, failure_code, failure_message }: RunRow): PartnerSyncError =>
  failure_code !== null && failure_code in ERROR_CATALOGUE
    ? new PartnerSyncError(failure_code as ErrorCode, failure_message ?? '', { final: true })
    : new PartnerSyncError('run_stopped', `run ${id} of ${sync} has ended already`);

/** The feeds of the chosen mappings, as far as the run goes by them. */
const feedsOf = (spec: SyncSpec, chosen: ReadonlySet<string>): FeedOfRun[] =>
  declaredFeeds(spec)
    .map(({ name, mappings }) => ({ name, mappings: mappings.map((m) => m.name).filter((m) => chosen.has(m)) }))
    .filter(({ mappings }) => mappings.length > 0);

/** Whether rows may be of several tenants; how many a list in the source has is not known yet. */
const hasManyTenants = (tenant: TenantConfig): boolean =>
  tenant.kind === 'table' || (tenant.kind === 'column' && tenant.values.size > 1);

/** A run begins with the files as they are now, if it can do with them what it was asked for, and keeps them. */
async function beginOrContinue(
  deps: Dependencies,
  { kind, input, firstExecutionRunId, start }: OpenRunInput,
  workflowId: string,
): Promise<RunRow> {
  const { ledger } = deps;
  if (input.continues !== undefined) return continuedRun(deps, input.continues.runId, firstExecutionRunId);
  const { spec, files } = await deps.loadSync(input.sync);
  const mode = modeOf(kind, input, spec);
  validatedMappings(spec, mode, input);
  const about = { sync: spec.name, mode, mappingVersion: spec.version, files: keptFiles(files) };
  const { runsBefore = 0 } = input;
  return ledger.runs.begin({ ...about, workflowId, kind, input, firstExecutionRunId, runsBefore, start });
}

/** The run that an earlier execution of the same workflow has begun: anybody can write any run into an input. */
async function continuedRun({ ledger }: Dependencies, runId: string, firstExecutionRunId: string): Promise<RunRow> {
  const run = await ledger.runs.find(runId);
  if (run?.first_execution_run_id === firstExecutionRunId) return run;
  throw new PartnerSyncError(
    'input_invalid',
    '"continues" is set by a run that continues itself, not by hand: this workflow has begun no such run',
  );
}

/**
 * Allows one run of a sync at a time, whatever started it, and one that reads every row beside one in mode `live`. The workflow
 * id cannot ensure that: people type any id into the form, and schedules append the time. Returns the run for which this one is
 * not needed; null if it has the lease.
 */
async function takeLease({ ledger }: Dependencies, run: RunRow): Promise<RunRow | null> {
  const holder = await ledger.runs.takeLease(run.sync, run.id);
  if (holder?.id === run.id) return null;
  // Another attempt at opening the run has ended it.
  if (holder === undefined) throw new PartnerSyncError('run_stopped', `run ${run.id} of ${run.sync} has ended already`);
  // Its schedule tries again each minute.
  if (run.mode === 'live' && run.trigger === 'schedule') {
    await ledger.runs.withdraw(run.id);
    return holder;
  }
  const error = new PartnerSyncError(
    'run_in_progress',
    `run ${holder.id} of ${run.sync} is in progress since ${holder.started_at.toISOString()} (workflow ${holder.workflow_id})`,
  );
  await ledger.runs.end(run.id, 'failed', error);
  throw error;
}

/** Approves the removal plans that the input of this run names. */
async function approveRemovals(
  { ledger }: Dependencies,
  run: RunRow,
  { approve: asked, continues }: RunInput,
): Promise<void> {
  if (asked === undefined || continues !== undefined) return;
  const awaitingApproval = (await ledger.removals.awaitingApproval(run.sync)).map((p) => p.plan);
  const unknown = asked.filter((plan) => !awaitingApproval.includes(plan));
  const actor = actorOf({ trigger: run.trigger, by: run.started_by });
  if (unknown.length === 0) return ledger.removals.approve(asked, { sync: run.sync, run: run.id, actor });
  const error = new PartnerSyncError(
    'input_invalid',
    `no removal plan of ${run.sync} waits for approval with the id ${unknown.slice(0, 5).map(quoted).join(', ')}; waiting: ${awaitingApproval.join(', ') || 'none'}`,
  );
  await ledger.runs.end(run.id, 'failed', error);
  throw error;
}
