/** What Temporal is told of a run that a command starts, so that its list of workflows can be read and searched. */
import { hostname, userInfo } from 'node:os';
import type { WorkflowStartOptions } from '@temporalio/client';
import type { Actor } from '../../domain/run/audit.js';
import { searchAttributesOf } from '../../domain/run/search-attributes.js';
import type { RunInput, RunKind } from '../../domain/run/run.js';
import { shortSummary } from '../../domain/run/short-summary.js';
import { startFacts } from '../../domain/run/start-facts.js';
import { STARTED_BY } from '../../domain/run/work.js';

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

/** Whoever runs this command, for the audit. */
export const thisCommand = (): Actor => ({ who: startedBy(), origin: 'cli' });

/** As PARTNER_SYNC_ACTOR says; otherwise the account and machine of this process. */
export function startedBy(): string {
  const actor = process.env['PARTNER_SYNC_ACTOR'];
  if (actor) return actor;
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    // An account without an entry in the system's list, as in containers that run under any number.
    return `${process.getuid?.() ?? 'somebody'}@${hostname()}`;
  }
}
