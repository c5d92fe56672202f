/** The run's story for the Web UI: current details as a Markdown table. */
import { waitLine } from '../src/domain/run-wait.js';
import { rateOf, type MappingProgress, type RunWait } from '../src/domain/run.js';
import type { ComparedRun } from './compared-run.js';

export function detailsOf(
  opened: ComparedRun,
  mappings: readonly MappingProgress[],
  waits: readonly RunWait[],
): string {
  const rows = mappings.map((m) =>
    [
      m.mapping,
      m.read,
      m.sent,
      m.unchanged,
      m.accepted,
      m.waiting,
      m.deadLettered,
      rateOf(m) ?? '-',
      m.done ? 'read' : 'reading',
    ].join(' | '),
  );
  return [
    `Run ${opened.runId} of **${opened.sync}** (${opened.mode}); stages: ${stagesIn(opened)}`,
    '',
    '| mapping | read | on the way | unchanged | accepted | waiting | dead-lettered | rows/s | state |',
    '|---|---:|---:|---:|---:|---:|---:|---:|---|',
    ...rows.map((row) => `| ${row} |`),
    ...waits.map((wait) => `\n${waitLine(wait)}`),
    ...(opened.stopped ?? []).map(({ mapping, message }) => `\n**Stopped**: ${mapping}, since ${message}`),
  ].join('\n');
}

const stagesIn = ({ stages, ahead = [] }: ComparedRun): string =>
  stages
    .map((stage, i) => [...(ahead[i] ?? []).map((name) => `${name} (first pass)`), ...stage].join(' + '))
    .join(' -> ');
