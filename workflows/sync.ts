/** Brings the platform into step with the source: started by a schedule, the Web UI or `partner-sync run`. */
import type { RunReport, SyncInput } from '../src/domain/run.js';
import { run } from './run.js';

/** Input in the Start Workflow form: `{"sync":"online-retail"}`. */
export const sync = (input: SyncInput): Promise<RunReport> => run('sync', input);
