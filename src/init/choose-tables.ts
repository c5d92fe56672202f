/** Chooses the tables for which `init` drafts a sync: those that were named, or all that the account can read. */
import { PartnerSyncError } from '../domain/errors.js';
import { nearest } from '../domain/values/names.js';
import type { SourceTable } from '../domain/source/source-catalog.js';
import { isOfChangeTable } from './change-table-parts.js';

/** More tables than a person can review at once must be named explicitly. */
const TABLES = 40;

/**
 * The tables to draft mappings for. Views, and what a change feed has made, are included only if they are named.
 *
 * Throws `input_invalid` for a name that is unknown or not readable, or if there are too many tables;
 * `config_invalid` if the account can read none.
 */
export function chosenTables(all: readonly SourceTable[], wanted: readonly string[] | undefined): SourceTable[] {
  const readable = all.filter((t) => t.readable);
  if (wanted !== undefined)
    return wanted.map((name) => {
      const found = all.find((t) => t.table === name);
      if (found?.readable) return found;
      const near = nearest(
        name,
        readable.map((t) => t.table),
      );
      throw new PartnerSyncError(
        'input_invalid',
        found === undefined
          ? `the database has no table "${name}" that this account can see.${near === undefined ? '' : ` Did you mean "${near}"?`}`
          : `this account may not read ${name}: GRANT SELECT ON ${name} TO it`,
      );
    });
  const tables = readable.filter((t) => t.kind === 'table' && !isOfChangeTable(t, all));
  if (tables.length === 0)
    throw new PartnerSyncError(
      'config_invalid',
      `the account can read no table of this database${all.length > 0 ? `, of ${all.length} that it can see: GRANT SELECT on them` : ''}`,
    );
  if (tables.length > TABLES)
    throw new PartnerSyncError(
      'input_invalid',
      `the database has ${tables.length} tables; name those to sync with --table. They are: ${tables.map((t) => t.table).join(', ')}`,
    );
  return tables;
}
