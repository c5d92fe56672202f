/** Whether syncs are well by their own limits, from the ledger alone: a schedule that is paused does not hide it. */
import type { ViewParts } from '../../compose.js';
import { formatSeconds } from '../../domain/duration.js';
import { PartnerSyncError } from '../../domain/errors.js';
import type { SyncSpec } from '../../domain/sync.js';
import { DEFAULT_LIMITS, problemsOf, type HealthProblem } from '../../domain/sync-health.js';
import type { SyncState } from '../../ledger/views/sync-state.js';

/** The health of one sync. Times are ISO 8601 in UTC, ages in seconds. */
export interface SyncHealth {
  readonly sync: string;
  readonly ok: boolean;
  /** The worst first; empty if all is well. */
  readonly problems: readonly HealthProblem[];
  readonly lastSuccessAt: string | null;
  readonly lastSuccessAge: number | null;
  /** How many runs have failed or ended incomplete since then. */
  readonly streak: number;
  /** The limits are the defaults, since the files of the sync cannot be read here. */
  readonly defaultLimits: boolean;
}

/** The health of the sync, or of all that have run. */
export async function healthsOf(parts: ViewParts, sync: string | undefined): Promise<SyncHealth[]> {
  const states = await (await parts.ledger()).syncStates.of(sync);
  return Promise.all(
    states.map(async (state) => {
      const spec = await specOf(parts, state.sync);
      const problems = problemsOf(state, spec?.limits ?? DEFAULT_LIMITS, spec?.failOn ?? 'incomplete');
      return {
        sync: state.sync,
        ok: problems.length === 0,
        problems,
        lastSuccessAt: state.lastSuccessAt?.toISOString() ?? null,
        lastSuccessAge: ageOf(state),
        streak: state.streak,
        defaultLimits: spec === undefined,
      };
    }),
  );
}

const ageOf = ({ now, lastSuccessAt }: SyncState): number | null =>
  lastSuccessAt === null ? null : (now.getTime() - lastSuccessAt.getTime()) / 1000;

/** Undefined where the sync's files cannot be read, as on a machine that only looks. */
async function specOf(parts: ViewParts, sync: string): Promise<SyncSpec | undefined> {
  try {
    return (await parts.openSync(sync)).spec;
  } catch (error) {
    if (error instanceof PartnerSyncError) return undefined;
    throw error;
  }
}

/** For people: a line a sync, and one for each thing that is wrong. */
export const healthLines = (healths: readonly SyncHealth[]): string[] =>
  healths.flatMap(({ sync, problems, lastSuccessAge, defaultLimits }) => [
    `${sync}: ${problems[0]?.trigger ?? 'ok'}; ${lastSuccessAge === null ? 'no success yet' : `last success ${formatSeconds(lastSuccessAge)} ago`}${
      defaultLimits ? ' (default limits: its files cannot be read here)' : ''
    }`,
    ...problems.map(({ what }) => `  ${what}`),
  ]);
