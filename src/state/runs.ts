/** Runs and the lease that lets one run of a sync work at a time. */
import type { Knex } from 'knex';
import { foreignText } from '../domain/foreign-text.js';
import type { RunInput, RunKind } from '../domain/run.js';
import type { RunFailure } from '../domain/work.js';
import { inTransaction } from './transaction.js';

export interface RunRow {
  readonly id: string;
  readonly sync: string;
  readonly kind: RunKind;
  readonly mode: string;
  readonly input: RunInput;
  readonly mapping_version: string;
  readonly workflow_id: string;
  readonly first_execution_run_id: string;
  readonly started_at: Date;
  readonly ended_at: Date | null;
  readonly outcome: string | null;
  /** Of a run that failed: why. */
  readonly failure_code: string | null;
  readonly failure_message: string | null;
}

export interface NewRun {
  readonly sync: string;
  readonly kind: RunKind;
  readonly mode: string;
  readonly input: RunInput;
  readonly mappingVersion: string;
  readonly workflowId: string;
  readonly firstExecutionRunId: string;
}

export interface Runs {
  /** The run of this workflow execution: made on the first call, found again by later attempts. */
  begin(run: NewRun): Promise<RunRow>;
  get(runId: string): Promise<RunRow | undefined>;
  /** The latest runs, newest first. */
  latest(sync: string | undefined, limit: number): Promise<readonly RunRow[]>;
  /** Takes the sync's lease for the run. Answers the run that holds it: the same one, or whose turn it is. */
  takeLease(sync: string, runId: string): Promise<RunRow>;
  /** Runs of the sync that have not ended themselves. */
  unended(sync: string): Promise<readonly RunRow[]>;
  /** Ends the run and gives its lease back; the first outcome stays. */
  end(runId: string, outcome: string, failure?: RunFailure): Promise<void>;
  /** Those of the workflow executions that are runs in the ledger. */
  known(firstExecutionRunIds: readonly string[]): Promise<ReadonlySet<string>>;
}

/** Characters of a failure's sentence that are kept: some dozens of findings. */
const LONGEST_FAILURE = 4000;

export function openRuns(knex: Knex): Runs {
  const get = (runId: string) => knex('runs').where({ id: runId }).first<RunRow | undefined>();
  return {
    get,
    async begin(run) {
      await knex('runs')
        .insert({
          sync: run.sync,
          kind: run.kind,
          mode: run.mode,
          input: JSON.stringify(run.input),
          mapping_version: run.mappingVersion,
          workflow_id: run.workflowId,
          first_execution_run_id: run.firstExecutionRunId,
        })
        .onConflict('first_execution_run_id')
        .ignore();
      return knex('runs').where({ first_execution_run_id: run.firstExecutionRunId }).first<RunRow>();
    },
    latest: (sync, limit) =>
      knex('runs')
        .where(sync === undefined ? {} : { sync })
        .orderBy('id', 'desc')
        .limit(limit)
        .select<RunRow[]>(),
    async takeLease(sync, runId) {
      await knex('sync_leases').insert({ sync, run_id: runId }).onConflict('sync').ignore();
      return knex('sync_leases')
        .where('sync_leases.sync', sync)
        .join('runs', 'runs.id', 'run_id')
        .first<RunRow>('runs.*');
    },
    unended: (sync) => knex('runs').where({ sync, ended_at: null }).orderBy('id').select<RunRow[]>(),
    async known(ids) {
      const rows = await knex('runs')
        .whereIn('first_execution_run_id', [...ids])
        .select('first_execution_run_id');
      return new Set(rows.map((row: Pick<RunRow, 'first_execution_run_id'>) => row.first_execution_run_id));
    },
    async end(runId, outcome, failure) {
      const why = failure && {
        failure_code: failure.code,
        failure_message: foreignText(failure.message.replaceAll('\n', '; '), LONGEST_FAILURE),
      };
      await inTransaction(knex, async (trx) => {
        await trx('runs')
          .where({ id: runId, ended_at: null })
          .update({ ended_at: knex.fn.now(), outcome, ...why });
        await trx('sync_leases').where({ run_id: runId }).delete();
      });
    },
  };
}
