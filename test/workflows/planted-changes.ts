/** Changes of workflows that a replay must notice, or cannot: each as a replacement of text in one file. */
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundle } from '@temporalio/worker';

export interface PlantedChange {
  readonly file: string;
  /** Is in the file exactly once. */
  readonly text: string;
  readonly instead: string;
  /** A shape that the change concerns, and one that it does not. */
  readonly concerns: string;
  readonly spares: string;
}

/** None of them has a guard, and each changes the kinds or the order of commands. */
export const UNSAFE: Readonly<Record<string, PlantedChange>> = {
  'an activity is left out': {
    file: 'run.ts',
    text: 'const swept = await sweepOpenDeadLetters(run, input, reached, execution);',
    instead: 'const swept = reached;',
    concerns: 'full',
    spares: 'incremental-first',
  },
  'an activity is added': {
    file: 'run-holds.ts',
    text: 'holds.approved.add(cause);',
    instead: 'holds.approved.add(cause); await approveHold({ runId, sync, mapping, cause, ...holds.approval! });',
    concerns: 'changes-on-hold-approved',
    spares: 'changes-on-hold-not-approved',
  },
  'two activities change places': {
    file: 'run.ts',
    text: 'return closeRun({',
    instead: 'await prune(run); return closeRun({',
    concerns: 'incremental-first',
    spares: 'refused-input',
  },
  'a pause is left out': {
    file: 'poll-pending-records.ts',
    text: 'await sleep(`${Math.min(pause, Math.max(1, left))}s`, { summary: shortSummary(summary) });',
    instead: 'await Promise.resolve(sleep.name);',
    concerns: 'cancelled-while-waiting',
    spares: 'backfill-range',
  },
  'a cancelled run is not recorded as failed': {
    file: 'run.ts',
    text: 'await failRun({ runId, sync, failure }).catch(() => undefined);',
    instead: 'failRun.name; runId; sync;',
    concerns: 'cancelled',
    spares: 'full',
  },
  'a long run does not continue as a new execution': {
    file: 'continue-run.ts',
    text: "if (isHistoryLong() || completionOf(steps) === 'unfinished') await",
    instead: "if (isHistoryLong() && completionOf(steps) === 'finished' && reached.length === 0) await",
    concerns: 'backfill-continued',
    spares: 'backfill-range',
  },
};

/** These change what activities are given, which no replay compares. */
export const UNNOTICED: Readonly<Record<string, PlantedChange>> = {
  'the parents are removed before their children': {
    file: 'remove-vanished-records.ts',
    text: 'stage.length > 0).reverse()',
    instead: 'stage.length > 0)',
    concerns: 'mirror',
    spares: 'full',
  },
};

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The bundle of the workflows with this change. */
export async function bundleWith(name: string, { file, text, instead }: PlantedChange): Promise<WorkflowBundle> {
  // In the project, where its packages are found; and beside `src`, as the workflows are.
  const folder = join(ROOT, '.partner-sync', 'planted', `${process.pid}-${name.replaceAll(' ', '-')}`);
  mkdirSync(folder, { recursive: true });
  try {
    cpSync(join(ROOT, 'workflows'), join(folder, 'workflows'), { recursive: true });
    symlinkSync(join(ROOT, 'src'), join(folder, 'src'));
    const path = join(folder, 'workflows', file);
    const parts = readFileSync(path, 'utf8').split(text);
    if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times what "${name}" replaces`);
    writeFileSync(path, parts.join(instead));
    return await bundleWorkflowCode({
      workflowsPath: join(folder, 'workflows', 'index.ts'),
      logger: new DefaultLogger('ERROR'),
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
