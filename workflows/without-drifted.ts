/** Compares the source's columns with those of the last run, and leaves out the mappings that are skipped because of schema drift. */
import type { MappingNote, RunInput } from '../src/domain/run/run.js';
import type { FeedOfRun, OpenedRun, SchemaDrift } from '../src/domain/run/work.js';
import { detectSchemaDrift } from './activities.js';

/** A run as it continues: its stages and polled mappings are without those that were skipped. */
export interface CheckedRun extends OpenedRun, SchemaDrift {
  /** The mappings that the run was asked for, skipped or not. */
  readonly asked: readonly string[];
  readonly feeds: readonly FeedOfRun[];
}

/**
 * Compares once per run: a continued execution takes over the result. Stages keep their numbers even if they are empty
 * now, since a continued execution counts them.
 */
export async function withoutDrifted(
  opened: OpenedRun,
  { continues, acceptChanges = false }: RunInput,
): Promise<CheckedRun> {
  if (continues !== undefined) return without(opened, continues);
  const { runId, sync, polled, schemaNotes = [] } = opened;
  const drift = await detectSchemaDrift({ runId, sync, mappings: polled, accept: acceptChanges });
  return without(opened, { ...drift, notes: [...schemaNotes, ...drift.notes] });
}

/** The run without the mappings that are skipped. */
export function without(opened: OpenedRun, { skipped, notes }: SchemaDrift): CheckedRun {
  const isSkipped = (mapping: string): boolean => skipped.some((other) => other.mapping === mapping);
  const remaining = (mappings: readonly string[]): string[] => mappings.filter((mapping) => !isSkipped(mapping));
  return {
    ...opened,
    asked: opened.stages.flat(),
    stages: opened.stages.map(remaining),
    firstPass: opened.firstPass.map(remaining),
    polled: remaining(opened.polled),
    // A feed of which no mapping remains is read, too: the source keeps its changes until then.
    feeds: (opened.feeds ?? []).map(({ name, mappings }) => ({ name, mappings: remaining(mappings) })),
    skipped,
    notes,
  };
}

/**
 * Mappings that are merely polled are compared with their source as well; the report covers those that were asked for.
 */
export const ofAsked = <T extends MappingNote>({ asked }: CheckedRun, notes: readonly T[]): T[] =>
  notes.filter(({ mapping }) => asked.includes(mapping));
