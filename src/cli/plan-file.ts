/** Plan files: what a run would send, as counts and digests. They hold no row, so they can be attached to a ticket. */
import { readFile, writeFile } from 'node:fs/promises';
import { PREDICTIONS, type Preview, type Prediction } from '../inspection/preview-mapping.js';
import { PartnerSyncError } from '../domain/errors.js';
import { removesRecords, RUN_MODES, type RunMode, type SyncSpec } from '../domain/sync/sync.js';

/** The content of a plan file. */
export interface Plan {
  readonly version: 1;
  readonly sync: string;
  readonly mode: RunMode;
  /** The version of the sync's files. */
  readonly mappingVersion: string;
  readonly mappings: readonly {
    readonly mapping: string;
    readonly counts: Readonly<Record<Prediction, number>>;
    /** Of everything that would be sent, whatever its order; see `Preview`. */
    readonly digest: string;
  }[];
}

/** The plan that previews of all rows lead to. */
export const planOf = (sync: string, mode: RunMode, mappingVersion: string, previews: readonly Preview[]): Plan => ({
  version: 1,
  sync,
  mode,
  mappingVersion,
  mappings: previews.map(({ mapping, counts, digest }) => ({ mapping, counts, digest })),
});

/**
 * Throws `input_invalid` if a run in this mode would send what no plan contains: what follows changes, and marks of records whose
 * rows are gone.
 */
export function assertPlanMode({ mappings }: SyncSpec, mode: RunMode, chosen: readonly string[]): void {
  const ofPlan = mappings.filter(({ name }) => chosen.includes(name));
  const marking = ofPlan.filter((spec) => removesRecords(spec) && (mode === 'mirror' || spec.feed !== null));
  const names = marking.map(({ name }) => name).join(', ');
  const why =
    mode === 'live'
      ? 'nobody can foresee what a run in mode live sends, which follows changes'
      : marking.length > 0 && mode !== 'full'
        ? `a run in mode ${mode} marks records of ${names} whose rows are gone, which no plan contains`
        : null;
  if (why !== null) throw new PartnerSyncError('input_invalid', `${why}; make the plan for another mode, such as full`);
}

/** Throws `input_invalid` if the file cannot be written. */
export async function writePlan(file: string, plan: Plan): Promise<void> {
  try {
    await writeFile(file, `${JSON.stringify(plan, null, 2)}\n`);
  } catch (error) {
    throw invalid(file, `cannot be written (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`);
  }
}

/**
 * Throws `input_invalid` for a file that cannot be read or is not a plan. A plan is checked for its parts only: people
 * do not edit it, but may name the wrong file.
 */
export async function readPlan(file: string): Promise<Plan> {
  let plan: Partial<Plan> | null;
  try {
    plan = JSON.parse(await readFile(file, 'utf8')) as Partial<Plan> | null;
  } catch (error) {
    throw invalid(file, error instanceof SyntaxError ? 'is not JSON' : 'cannot be read');
  }
  const whole =
    plan?.version === 1 &&
    typeof plan.sync === 'string' &&
    typeof plan.mappingVersion === 'string' &&
    RUN_MODES.some((mode) => mode === plan.mode) &&
    Array.isArray(plan.mappings) &&
    plan.mappings.every((m: unknown) => typeof m === 'object' && m !== null && 'counts' in m && 'digest' in m);
  if (!whole) throw invalid(file, 'is not a plan written by partner-sync preview --out');
  return plan as Plan;
}

const invalid = (file: string, what: string): PartnerSyncError =>
  new PartnerSyncError('input_invalid', `the plan ${file} ${what}`);

/** Unchanged rows send nothing, and how many of them a run reads again depends on when it runs. */
const MATTERING = PREDICTIONS.filter((prediction) => prediction !== 'unchanged');

/**
 * Throws `plan_outdated` with all differences between the plan and what a run would send now. A mapping that the sync
 * no longer has needs no line of its own: the version of the files differs then.
 */
export function assertHolds(plan: Plan, now: Plan): void {
  const lines: string[] = [];
  if (plan.mappingVersion !== now.mappingVersion)
    lines.push(`the sync's files have version ${now.mappingVersion}, the plan was made with ${plan.mappingVersion}`);
  for (const planned of plan.mappings) {
    const found = now.mappings.find((m) => m.mapping === planned.mapping);
    if (found === undefined) continue;
    const counts = MATTERING.filter((prediction) => found.counts[prediction] !== planned.counts[prediction]).map(
      (prediction) => `${prediction} ${planned.counts[prediction]} -> ${found.counts[prediction]}`,
    );
    // Equal counts are not enough: another version of the same rows counts the same.
    if (counts.length === 0 && found.digest === planned.digest) continue;
    lines.push(`${planned.mapping}: ${counts.join(', ') || 'the same number of records, with different content'}`);
  }
  if (lines.length > 0)
    throw new PartnerSyncError('plan_outdated', `the plan is out of date. Nothing was sent.\n${lines.join('\n')}`);
}
