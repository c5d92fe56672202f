/** A run once its source was held against what it was before: mappings whose columns changed are left out. */
import { patched } from '@temporalio/workflow';
import type { RunInput } from '../src/domain/run.js';
import type { OpenedRun, SourceDrift } from '../src/domain/work.js';
import { compareSource } from './activities.js';

/** A run as it goes on: without the mappings whose source has changed. */
export type ComparedRun = OpenedRun & Partial<SourceDrift>;

/** Stages keep their number, empty or not: a continued execution counts them. */
export async function compared(
  opened: OpenedRun,
  { continues, acceptChanges = false }: RunInput,
): Promise<ComparedRun> {
  const mappings = opened.followed ?? opened.stages.flat();
  const drift =
    continues === undefined && patched('compare-source')
      ? await compareSource({ sync: opened.sync, mappings, accept: acceptChanges })
      : { stopped: continues?.stopped ?? [], notes: continues?.notes ?? [] };
  const goesOn = (mapping: string): boolean => !drift.stopped.some((stopped) => stopped.mapping === mapping);
  const going = (stages: OpenedRun['stages']): string[][] => stages.map((stage) => stage.filter(goesOn));
  const left = { stages: going(opened.stages), ahead: going(opened.ahead ?? []), followed: mappings.filter(goesOn) };
  return { ...opened, ...drift, ...left };
}

/** What the next execution of a long run begins with. */
export const continuing = (
  input: RunInput,
  { runId, stopped = [], notes = [] }: ComparedRun,
  stagesDone: number,
): RunInput => ({
  ...input,
  continues: { runId, stagesDone, stopped, notes },
});
