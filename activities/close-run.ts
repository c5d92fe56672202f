/** Ends a run with its report, and finds out who has told one in mode `live` to stop. */
import type { Dependencies } from '../src/delivery/dependencies.js';
import { closeRun as close } from '../src/delivery/run/close-run.js';
import type { RunReport } from '../src/domain/run/run.js';
import { CANCELLED, type CloseRunInput } from '../src/domain/run/work.js';
import { cancellationOf } from './fail-run.js';

export const closeRun = async (deps: Dependencies, input: CloseRunInput): Promise<RunReport> =>
  close(deps, input, input.isStopped === true ? await cancellationOf(CANCELLED) : null);
