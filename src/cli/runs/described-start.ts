/** What Temporal is told of a run that a command starts, so that its list of workflows can be read and searched. */
import { hostname, userInfo } from 'node:os';
import type { WorkflowStartOptions } from '@temporalio/client';
import type { Actor } from '../../domain/audit.js';
import { searchAttributesOf } from '../../domain/search-attributes.js';
import type { RunInput, RunKind } from '../../domain/run.js';
import { shortSummary } from '../../domain/short-summary.js';
import { STARTED_BY } from '../../domain/work.js';

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
    staticDetails: [`- sync: **${sync}**`, ...detailsOf(kind, input), `- started by ${by}`].join('\n'),
    memo: { [STARTED_BY]: by },
    typedSearchAttributes: searchAttributesOf(
      { sync, trigger: 'cli', ...(mode !== undefined && { mode }) },
      registered,
    ),
  };
}

/** Whoever runs this command, for the audit. */
export const thisCommand = (): Actor => ({ who: startedBy(), origin: 'cli' });

/** The account and machine of this process. */
export function startedBy(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    // An account without an entry in the system's list, as in containers that run under any number.
    return `${process.getuid?.() ?? 'somebody'}@${hostname()}`;
  }
}

function detailsOf(
  kind: RunKind,
  { mode, mappings, mapping, from, to, limit, externalIds, replay }: RunInput,
): string[] {
  const window = [from !== undefined && `from ${from}`, to !== undefined && `to before ${to}`].filter((part) => part);
  const facts: Readonly<Record<string, string | undefined>> = {
    mode: kind === 'backfill' ? 'backfill' : (mode ?? 'as sync.yaml says'),
    mappings: mapping ?? mappings?.join(', '),
    'cursor column': window.length > 0 ? window.join(', ') : undefined,
    rows: limit === undefined ? undefined : `the first ${limit} of each mapping`,
    records: externalIds === undefined ? undefined : `${externalIds.length}, by external id`,
    'dead letters': replay === undefined ? undefined : 'replayed',
  };
  return Object.entries(facts).flatMap(([name, value]) => (value === undefined ? [] : [`- ${name}: ${value}`]));
}
