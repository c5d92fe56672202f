/** Loads a range or a list of records again, beside the scheduled runs; never touches their position. */
import type { BackfillInput, RunReport } from '../src/domain/run.js';
import { run } from './run.js';

/** Input in the Start Workflow form: `{"sync":"online-retail","mapping":"customers","externalIds":["17850"]}`. */
export const backfill = (input: BackfillInput): Promise<RunReport> => run('backfill', input);
