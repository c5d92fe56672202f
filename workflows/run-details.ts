/** The current details of a run, as the Web UI shows them. */
import { progressLine, type MappingProgress } from '../src/domain/run/progress.js';
import type { RunInput, RunKind } from '../src/domain/run/run.js';
import { startFacts } from '../src/domain/run/start-facts.js';
import type { OpenedRun } from '../src/domain/run/work.js';
import type { CheckedRun } from './without-drifted.js';

/** Schedules and commands give a run its details when they start it; a client such as the Web UI does not. */
export function askedLine(kind: RunKind, input: RunInput): string {
  const facts = startFacts(kind, input).filter(([name]) => name !== 'mode');
  return [
    'Started in the Web UI, or by another client of Temporal',
    ...facts.map(([name, value]) => `${name}: ${value}`),
  ].join('; ');
}

/**
 * The details as Markdown: a paragraph for each thing out of the ordinary, and a line for each mapping. No table, since
 * the Web UI shows them in a narrow frame, which cuts off what is too wide.
 */
export function detailsInMarkdown(
  run: OpenedRun | CheckedRun,
  mappings: readonly MappingProgress[],
  notes: readonly string[],
): string {
  return [
    `Run ${run.runId} of **${run.sync}** (${run.mode}); stages: ${stagesOf(run)}`,
    ...notes.map((note) => `\n${note}`),
    '',
    ...mappings.map((mapping) => `- **${mapping.mapping}**: ${progressLine(mapping, 'done')}`),
    // The frame is a few pixels too low for what is in it, and would cut off half of the last line.
    '\n---',
  ].join('\n');
}

const stagesOf = ({ stages, firstPass }: OpenedRun): string =>
  stages
    .map((stage, i) => [...(firstPass[i] ?? []).map((name) => `${name} (first pass)`), ...stage].join(' + '))
    .join(' -> ');
