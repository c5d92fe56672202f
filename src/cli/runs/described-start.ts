/** What Temporal is told of a run that a command starts, so that its list of workflows can be read and searched. */
import type { WorkflowStartOptions } from '@temporalio/client';
import { searchAttributesOf } from '../../domain/run/search-attributes.js';
import type { RunInput, RunKind } from '../../domain/run/run.js';
import { shortSummary } from '../../domain/run/short-summary.js';
import { startFacts } from '../../domain/run/start-facts.js';
import { STARTED_BY } from '../../domain/run/work.js';
import { startedBy } from '../actor.js';

/** `registered`: the search attributes that the namespace has. No id or key of the input is repeated. */
export function describedStart(
  kind: RunKind,
  input: RunInput,
  registered: readonly string[],
  by = startedBy(),
): Pick<WorkflowStartOptions, 'staticSummary' | 'staticDetails' | 'memo' | 'typedSearchAttributes'> {
  const { sync, mode } = input;
  return {
    staticSummary: shortSummary(`${kind} of ${sync}${mode === undefined ? '' : `, ${mode}`}, started by ${by}`),
    staticDetails: [
      `- sync: **${sync}**`,
      ...startFacts(kind, input).map(([name, value]) => `- ${name}: ${value}`),
      `- started by ${by}`,
    ].join('\n'),
    memo: { [STARTED_BY]: by },
    typedSearchAttributes: searchAttributesOf(
      { sync, trigger: 'cli', ...(mode !== undefined && { mode }) },
      registered,
    ),
  };
}
