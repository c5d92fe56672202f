/** Opens a run: checks what it was asked for, takes the sync's lease and answers the stages in order. */
import { activityInfo, getClient } from '@temporalio/activity';
import { WorkflowNotFoundError } from '@temporalio/client';
import { PartnerSyncError } from '../src/domain/errors.js';
import { nearest } from '../src/domain/names.js';
import type { RunInput, RunKind } from '../src/domain/run.js';
import type { SyncSpec } from '../src/domain/sync.js';
import type { OpenedRun, OpenRunInput } from '../src/domain/work.js';
import { lookUpOf } from '../src/mapping/look-up.js';
import { runningOrder } from '../src/mapping/running-order.js';
import { mappingNode } from '../src/mapping/stages.js';
import type { RunRow } from '../src/state/runs.js';
import type { Dependencies } from './dependencies.js';
import { assertVersion } from './version-of-run.js';

export async function openRun(
  deps: Dependencies,
  { kind, input, firstExecutionRunId }: OpenRunInput,
): Promise<OpenedRun> {
  const { ledger } = deps;
  const { spec } = await deps.openSync(input.sync);
  const chosen = chosenMappings(spec, input);
  checkCursors(spec, chosen, input);
  if (input.limit !== undefined) checkSample(spec, chosen);
  const mode = modeOf(kind, input, spec);
  if (mode === 'mirror') checkDeletes(spec, chosen);
  const execution = activityInfo().workflowExecution!;
  const run =
    input.continues === undefined
      ? await ledger.runs.begin({
          sync: spec.name,
          kind,
          mode,
          input,
          mappingVersion: spec.version,
          workflowId: execution.workflowId,
          firstExecutionRunId,
        })
      : await ledger.runs.get(input.continues.runId);
  if (run === undefined) throw new PartnerSyncError('unexpected', `no run ${input.continues?.runId} in the ledger`);
  assertVersion(run.id, run.mapping_version, spec);
  await endAbandoned(deps, run);
  if (kind === 'sync') await takeLease(deps, run);
  await approve(deps, run, input);
  const order = runningOrder(spec.mappings);
  const stages = order
    .map(({ ahead, full }) => ({ ahead: ahead.filter((n) => chosen.has(n)), full: full.filter((n) => chosen.has(n)) }))
    .filter(({ ahead, full }) => ahead.length + full.length > 0);
  return {
    runId: run.id,
    sync: spec.name,
    mode,
    followed: order.flatMap((stage) => stage.full).filter((name) => connected(spec, chosen).has(name)),
    followFor: spec.upload.followFor,
    stages: stages.map((stage) => stage.full),
    // A replay reads letters, not rows in an order; its children wait for each other as any others do.
    ahead: input.replay === undefined ? stages.map((stage) => stage.ahead) : [],
  };
}

/** The mappings, and all that refer to them or that they refer to, however far. */
function connected({ mappings }: SyncSpec, chosen: ReadonlySet<string>): ReadonlySet<string> {
  const nodes = mappings.map(mappingNode);
  const reached = new Set(chosen);
  for (let size = 0; size < reached.size;) {
    size = reached.size;
    for (const { name, refs } of nodes) {
      if (reached.has(name)) for (const ref of refs) reached.add(ref);
      else if (refs.some((ref) => reached.has(ref))) reached.add(name);
    }
  }
  return reached;
}

/** Said before anything is sent, not when the run comes to the mapping. */
function checkCursors(spec: SyncSpec, chosen: ReadonlySet<string>, { from, to }: RunInput): void {
  if (from === undefined && to === undefined) return;
  const without = spec.mappings.filter((m) => chosen.has(m.name) && m.cursor === null).map((m) => m.name);
  if (without.length > 0)
    throw new PartnerSyncError(
      'input_invalid',
      `"from" and "to" need a cursor, which these mappings do not declare: ${without.join(', ')}`,
    );
}

/** A mirror run that could remove nothing is not what was meant. */
function checkDeletes({ name, mappings }: SyncSpec, chosen: ReadonlySet<string>): void {
  const acting = mappings.filter((m) => chosen.has(m.name) && m.deletes !== null && m.deletes.action !== 'ignore');
  if (acting.length === 0)
    throw new PartnerSyncError(
      'config_invalid',
      `mode mirror: no mapping of ${name} that is run says with \`deletes\` what becomes of records whose rows are gone; use mode full, or declare an action`,
    );
  const unsure = acting.filter((m) => lookUpOf(m)?.certain !== true).map((m) => m.name);
  if (unsure.length > 0)
    throw new PartnerSyncError(
      'config_invalid',
      `mode mirror: rows must be found by their external id, which must be a column or a template without transforms (but \`string\`); mappings: ${unsure.join(', ')}`,
    );
}

/** Removal plans that wait for a person, and are named by the one who started this run. */
async function approve({ ledger }: Dependencies, run: RunRow, { approve: asked, continues }: RunInput): Promise<void> {
  if (asked === undefined || continues !== undefined) return;
  const held = (await ledger.removals.waiting(run.sync)).filter((p) => p.state === 'held').map((p) => p.plan);
  const wrong = asked.filter((plan) => !held.includes(plan));
  if (wrong.length === 0) return ledger.removals.approve(asked);
  const error = new PartnerSyncError(
    'input_invalid',
    `no removal plan of ${run.sync} waits for approval with the id ${wrong.join(', ')}; waiting: ${held.join(', ') || 'none'}`,
  );
  await ledger.runs.end(run.id, 'failed', error);
  throw error;
}

/** What a sample does must be as good as undone by a full run. */
function checkSample({ mappings }: SyncSpec, chosen: ReadonlySet<string>): void {
  const acting = mappings.filter(
    (m) => chosen.has(m.name) && m.deletes !== null && m.deletes.column !== null && m.deletes.action !== 'ignore',
  );
  if (acting.length > 0)
    throw new PartnerSyncError(
      'input_invalid',
      `"limit" does not go with mappings whose \`deletes\` marks records: ${acting.map((m) => m.name).join(', ')}; name the others in "mappings"`,
    );
}

function modeOf(kind: RunKind, input: RunInput, spec: SyncSpec): string {
  if (kind === 'backfill') return input.replay === undefined ? 'backfill' : 'replay';
  return input.limit === undefined ? (input.mode ?? spec.mode) : 'sample';
}

function chosenMappings(spec: SyncSpec, input: RunInput): ReadonlySet<string> {
  const known = spec.mappings.map((m) => m.name);
  const asked = input.mapping === undefined ? (input.mappings ?? known) : [input.mapping];
  for (const name of asked) {
    if (known.includes(name)) continue;
    const near = nearest(name, known);
    throw new PartnerSyncError(
      'input_invalid',
      `sync ${spec.name} has no mapping "${name}"${near === undefined ? '' : `; did you mean "${near}"?`} It has: ${known.join(', ')}`,
    );
  }
  return new Set(asked);
}

const LEFT_OPEN = {
  code: 'run_stopped',
  message: 'its workflow was terminated, or ended without the ledger; noted by the next run',
};

/** A run whose workflow was terminated could not end itself: its lease and its records are free from now on. */
async function endAbandoned({ ledger }: Dependencies, run: RunRow): Promise<void> {
  for (const other of await ledger.runs.unended(run.sync))
    if (other.id !== run.id && !(await isRunning(other))) await ledger.runs.end(other.id, 'failed', LEFT_OPEN);
}

/**
 * One run of a sync at a time, whichever trigger: people type any workflow id into the form and schedules
 * append the time, so the id alone ensures nothing.
 */
async function takeLease({ ledger }: Dependencies, run: RunRow): Promise<void> {
  const holder = await ledger.runs.takeLease(run.sync, run.id);
  if (holder.id === run.id) return;
  const error = new PartnerSyncError(
    'run_in_progress',
    `run ${holder.id} of ${run.sync} is in progress since ${holder.started_at.toISOString()} (workflow ${holder.workflow_id})`,
  );
  await ledger.runs.end(run.id, 'failed', error);
  throw error;
}

/** A continued run goes on under the same workflow id, in another execution of the same chain. */
async function isRunning(holder: RunRow): Promise<boolean> {
  try {
    const latest = await getClient().workflow.getHandle(holder.workflow_id).describe();
    if (latest.status.name !== 'RUNNING') return false;
    const first = latest.raw.workflowExecutionInfo?.firstRunId;
    // Older servers do not tell; then whoever runs under this id counts as the holder.
    return !first || first === holder.first_execution_run_id;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
