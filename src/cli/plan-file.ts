/** A plan: what a run would send, as counts and digests. No row is in it, so it may be attached to a ticket. */
import { readFile, writeFile } from 'node:fs/promises';
import { VERDICTS, type Preview, type Verdict } from '../../activities/preview-mapping.js';
import { PartnerSyncError } from '../domain/errors.js';
import { RUN_MODES, type RunMode } from '../domain/sync.js';

export interface Plan {
  readonly version: 1;
  readonly sync: string;
  readonly mode: RunMode;
  /** Of the sync's files. */
  readonly mappingVersion: string;
  readonly mappings: readonly {
    readonly mapping: string;
    readonly counts: Readonly<Record<Verdict, number>>;
    readonly digest: string;
  }[];
}

export const planOf = (sync: string, mode: RunMode, mappingVersion: string, previews: readonly Preview[]): Plan => ({
  version: 1,
  sync,
  mode,
  mappingVersion,
  mappings: previews.map(({ mapping, counts, digest }) => ({ mapping, counts, digest })),
});

export async function writePlan(file: string, plan: Plan): Promise<void> {
  try {
    await writeFile(file, `${JSON.stringify(plan, null, 2)}\n`);
  } catch (error) {
    throw invalid(file, `cannot be written (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`);
  }
}

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
  if (!whole) throw invalid(file, 'is no plan that partner-sync preview --out has written');
  return plan as Plan;
}

const invalid = (file: string, what: string): PartnerSyncError =>
  new PartnerSyncError('input_invalid', `the plan ${file} ${what}`);

/** How many unchanged rows are read again changes with the time of day, and sends nothing. */
const MATTERING = VERDICTS.filter((verdict) => verdict !== 'unchanged');

/** Throws `plan_outdated` with everything that is different by now. */
export function assertHolds(plan: Plan, now: Plan): void {
  const lines: string[] = [];
  if (plan.mappingVersion !== now.mappingVersion)
    lines.push(`the sync's files are of version ${now.mappingVersion}, the plan is of ${plan.mappingVersion}`);
  for (const planned of plan.mappings) {
    const found = now.mappings.find((m) => m.mapping === planned.mapping);
    if (found === undefined) continue;
    const counts = MATTERING.filter((verdict) => found.counts[verdict] !== planned.counts[verdict]).map(
      (verdict) => `${verdict} ${planned.counts[verdict]} -> ${found.counts[verdict]}`,
    );
    if (counts.length === 0 && found.digest === planned.digest) continue;
    lines.push(`${planned.mapping}: ${counts.join(', ') || 'as many records, with other content'}`);
  }
  if (lines.length > 0)
    throw new PartnerSyncError(
      'plan_outdated',
      `the plan does not hold any more. Nothing was sent.\n${lines.join('\n')}`,
    );
}
