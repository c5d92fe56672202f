/**
 * The functions with which a slot is read and advanced.
 *
 * PostgreSQL's own need the attribute REPLICATION, with which an account may read every slot. Instead an administrator may
 * make two functions for one slot, which run with the rights of their owner.
 */
import type { Binding } from '../../dialect.js';
import { quotedName } from './quoted-names.js';
import type { SlotConfig } from './slot-config.js';

/** The schema of the functions that are made for accounts. */
export const FUNCTION_SCHEMA = 'partner_sync_changes';

/** One of these functions, as the server describes it. */
export interface SlotFunction {
  readonly name: string;
  readonly isOfPublication: boolean;
}

/** The names of the functions for a slot. */
export const functionNames = (slot: string): { readonly peek: string; readonly advance: string } => ({
  peek: `${slot}_peek`,
  advance: `${slot}_advance`,
});

/** The publication's name as it stands between quotes in a literal. */
const PUBLICATION = `replace(replace(CAST($2 AS text), '"', '""'), '''', '''''')`;

/**
 * Those that the account may call; $1 is the slot and $2 the publication. A function that runs with the rights of who calls it
 * could have been put there by anybody who may create a schema.
 */
export const FUNCTIONS_SQL = `
  SELECT proname AS name,
    proname <> $1 || '_peek' OR strpos(pg_get_functiondef(p.oid), '"' || ${PUBLICATION} || '"') > 0
      OR strpos(pg_get_functiondef(p.oid), '''' || ${PUBLICATION} || '''') > 0 AS "isOfPublication"
  FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
  WHERE nspname = '${FUNCTION_SCHEMA}' AND prosecdef AND proname IN ($1 || '_peek', $1 || '_advance')
    AND oidvectortypes(proargtypes) = 'pg_lsn'
    AND has_schema_privilege(n.oid, 'USAGE') AND has_function_privilege(p.oid, 'EXECUTE')`;

/** An expression of SQL that calls a function, with the values of its placeholders. */
export interface SlotCall {
  readonly sql: string;
  readonly bindings: readonly Binding[];
}

const has = (functions: readonly SlotFunction[], wanted: string): boolean =>
  functions.some(({ name }) => name === wanted);

/** For FROM: the messages of the slot up to a position, with the column `data`. */
export function peekCall(
  { slot, publication }: SlotConfig,
  functions: readonly SlotFunction[],
  through: string,
): SlotCall {
  const { peek } = functionNames(slot);
  if (has(functions, peek)) return { sql: `${FUNCTION_SCHEMA}.${quotedName(peek)}($1::pg_lsn)`, bindings: [through] };
  return {
    sql: `pg_logical_slot_peek_binary_changes($2, $1::pg_lsn, NULL, 'proto_version', '1', 'publication_names', $3)`,
    bindings: [through, slot, quotedName(publication)],
  };
}

/** For SELECT: tells the server that changes up to a position need not be kept. */
export function advanceCall({ slot }: SlotConfig, functions: readonly SlotFunction[], to: string): SlotCall {
  const { advance } = functionNames(slot);
  if (has(functions, advance)) return { sql: `${FUNCTION_SCHEMA}.${quotedName(advance)}($1::pg_lsn)`, bindings: [to] };
  return { sql: `pg_replication_slot_advance($2, $1::pg_lsn)`, bindings: [to, slot] };
}
