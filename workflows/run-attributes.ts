/** What Temporal's list of workflows knows of a run: how it was started, and its search attributes. */
import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { undeliveredOf, type RunReport } from '../src/domain/run/run.js';
import { searchAttributesOf, type SearchableRun } from '../src/domain/run/search-attributes.js';
import { STARTED_BY, type OpenedRun, type RunStart } from '../src/domain/run/work.js';

/** A schedule adds an attribute of its own to what it starts, and our commands a memo. */
export function runStart(): RunStart {
  const { memo, typedSearchAttributes } = workflowInfo();
  const schedule = typedSearchAttributes.get({ name: 'TemporalScheduledById', type: 'KEYWORD' });
  if (schedule !== undefined) return { trigger: 'schedule', by: schedule };
  const by = memo?.[STARTED_BY];
  return typeof by === 'string' ? { trigger: 'cli', by } : { trigger: 'other', by: null };
}

/** Sets the attributes of a run; those that the namespace lacks are left out. */
export class RunAttributes {
  readonly #registered: readonly string[];

  constructor({ searchAttributes }: OpenedRun) {
    this.#registered = searchAttributes;
  }

  opened({ sync, mode }: OpenedRun, { trigger }: RunStart): void {
    this.#set({ sync, mode, trigger, outcome: 'running' });
  }

  /** Whether the run waits for approval. */
  onHold(isHeld: boolean): void {
    this.#set({ outcome: isHeld ? 'awaiting_approval' : 'running' });
  }

  reported(report: RunReport): void {
    const { waiting, deadLettered } = undeliveredOf(report);
    this.#set({ outcome: report.outcome, waiting, deadLetters: deadLettered });
  }

  failed(code: string): void {
    this.#set({ outcome: code === 'run_stopped' ? 'stopped' : 'failed' });
  }

  #set(run: Partial<SearchableRun>): void {
    const attributes = searchAttributesOf(run, this.#registered);
    if (attributes.length > 0) upsertSearchAttributes(attributes);
  }
}
