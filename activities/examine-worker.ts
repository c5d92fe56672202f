/** Examines one worker for `partner-sync doctor`: its files and variables, and what it can reach. Writes nothing. */
import { PartnerSyncError } from '../src/domain/errors.js';
import type { ExamineWorkerInput, WorkerState, WorkerFailure } from '../src/domain/run/work.js';
import type { Dependencies, OpenSync } from '../src/delivery/dependencies.js';
import { milliseconds, seconds } from '../src/domain/timeouts.js';
import { namedVariables } from '../src/mapping/kept-files.js';
import { within } from '../src/observability/within.js';

/** No batch has this id: any token may ask for it, and asking changes nothing. */
const NO_BATCH = '00000000-0000-4000-8000-000000000000';

/**
 * What this worker is, and what is wrong with it, for the sync named, or for its ledger alone if `sync` is null. Never
 * throws: each failure is an entry of the result. Only variables of the program and of the sync's files are hashed,
 * whoever asks.
 */
export async function examineWorker(
  deps: Dependencies,
  { sync: name, salt }: ExamineWorkerInput,
): Promise<WorkerState> {
  const failures: WorkerFailure[] = [];
  const tried = async <T>(part: WorkerFailure['part'], work: () => Promise<T>): Promise<T | null> => {
    try {
      return await inTime(work());
    } catch (error) {
      // The text of an unexpected error may quote anything, so only its kind is reported.
      const known = error instanceof PartnerSyncError;
      failures.push({ part, code: known ? error.code : 'unexpected', message: known ? error.message : nameOf(error) });
      return null;
    }
  };
  const loaded = name === null ? null : await tried('files', () => deps.loadSync(name));
  const [sync, variables] = await Promise.all([
    loaded === null ? null : tried('files', () => deps.openSync(loaded.spec.name)),
    deps.hashedVariables(loaded === null ? [] : namedVariables(loaded.files), salt),
    tried('ledger', () => deps.ledger.runs.latest(name ?? undefined, 1)),
  ]);
  if (sync !== null)
    await Promise.all([tried('source', () => sync.source.server()), tried('platform', () => ask(deps, sync))]);
  return { version: loaded?.spec.version ?? null, program: deps.programVersion, variables, failures };
}

/** One tenant is enough: all go through the same address and token. */
async function ask({ platform }: Dependencies, sync: OpenSync): Promise<void> {
  const [tenant] = await sync.tenants();
  if (tenant !== undefined) await platform.findBatch(NO_BATCH, { tenant });
}

/** A server that does not respond is exactly what must be reported. */
const inTime = <T>(work: Promise<T>): Promise<T> =>
  within(
    milliseconds('doctorPart'),
    work,
    () => new PartnerSyncError('unexpected', `no answer within ${seconds('doctorPart')} seconds`),
  );

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);
