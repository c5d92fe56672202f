/** Classifies what a source's driver throws, by SQLSTATE; driver texts may quote rows and are left behind. */
import { PartnerSyncError, type ErrorCode } from '../domain/errors.js';
import { errorCode } from '../domain/foreign-text.js';

/** SQLSTATE classes and codes of PostgreSQL; a partner's permissions and schema are not mended by waiting. */
const BY_STATE: readonly (readonly [prefix: string, code: ErrorCode])[] = [
  ['42P01', 'source_relation_missing'],
  ['42703', 'source_relation_missing'],
  ['25006', 'config_invalid'], // the query writes, and the session is read-only
  ['0A', 'config_invalid'], // not supported by this server
  ['42', 'config_invalid'], // syntax, privileges, undefined functions
  ['22', 'config_invalid'], // a bound value that the column's type cannot read
  ['28', 'config_invalid'], // password, role
  ['3D', 'config_invalid'], // database
  ['08', 'source_unreachable'],
  ['57P', 'source_unreachable'], // shutdown, crash, cannot connect now
];

export async function inSource<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PartnerSyncError) throw error;
    const state = errorCode(error);
    const sqlState = /^[0-9A-Z]{5}$/.test(state);
    const code = sqlState
      ? (BY_STATE.find(([prefix]) => state.startsWith(prefix))?.[1] ?? 'source_query_failed')
      : 'source_unreachable';
    const shown = sqlState ? `SQLSTATE ${state}` : state || (error instanceof Error ? error.name : 'unknown error');
    throw new PartnerSyncError(code, `source: ${what} failed (${shown})`, { sqlState: state }, { cause: error });
  }
}
