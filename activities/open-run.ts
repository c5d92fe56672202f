/** Opens a run, and asks Temporal whether runs that have not ended are still running. */
import { activityInfo, getClient, log } from '@temporalio/activity';
import type { Dependencies } from '../src/delivery/dependencies.js';
import { openRun as open } from '../src/delivery/run/open-run.js';
import type { NotNeeded, OpenedRun, OpenRunInput } from '../src/domain/run/work.js';
import { usableAttributes } from '../src/observability/search-attributes.js';
import { runWorkflows } from './run-workflows.js';

export async function openRun(deps: Dependencies, input: OpenRunInput): Promise<OpenedRun | NotNeeded> {
  const { workflowId } = activityInfo().workflowExecution!;
  const [opened, searchAttributes] = await Promise.all([
    open(deps, input, workflowId, runWorkflows),
    usableAttributes(getClient(), warnOnce),
  ]);
  return 'activeRun' in opened ? opened : { ...opened, searchAttributes };
}

const told = new Set<string>();

/** Each run would say the same: once in the life of the worker is enough. */
function warnOnce(message: string): void {
  if (told.has(message)) return;
  told.add(message);
  log.warn(message);
}
