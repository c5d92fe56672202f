/** Which columns of a table the slot identifies its rows by, and how their texts become those of a page. */
import type { FeedTable } from '../../../domain/source/change-feed.js';
import type { ColumnType, TakenSession } from '../../dialect.js';
import type { SlotTable } from './slot-messages.js';

/** One column of a key. */
export interface KeyColumn {
  readonly name: string;
  /** Its place among the columns of the slot's messages. */
  readonly index: number;
  readonly finish?: ((text: string) => string) | undefined;
}

/** Which types the codes of domains stand for: a page has values of the type beneath. */
const BASE_TYPES_SQL = `
  WITH RECURSIVE base AS (
    SELECT k.code, k.oid, k.modifier FROM unnest($1::text[], $2::oid[], $3::int[]) AS k(code, oid, modifier)
    UNION ALL
    SELECT code, typbasetype, typtypmod FROM base JOIN pg_type t ON t.oid = base.oid AND typtype = 'd')
  SELECT code, base.oid || '/' || modifier FROM base JOIN pg_type t ON t.oid = base.oid AND typtype <> 'd'`;

/** The columns of the primary key, in its order. */
const PRIMARY_KEY_SQL = `
  SELECT attname
  FROM pg_index x JOIN pg_class c ON c.oid = indrelid JOIN pg_namespace n ON n.oid = relnamespace
    CROSS JOIN LATERAL unnest(indkey::int2[]) WITH ORDINALITY AS k(attnum, place)
    JOIN pg_attribute a ON a.attrelid = indrelid AND a.attnum = k.attnum
  WHERE indisprimary AND place <= indnkeyatts AND nspname = $1 AND relname = $2 ORDER BY place`;

/** Finds the key columns of tables, and remembers what it has learned of types. */
export class KeyColumns {
  readonly #types = new Map<string, ColumnType>();

  /** Returns why not if the rows of the table cannot be identified, or not by the texts that pages have. */
  async of(taken: TakenSession, table: SlotTable): Promise<readonly KeyColumn[] | string> {
    const names = await identityOf(taken, table);
    const columns = names.map((name) => ({ name, index: table.columns.findIndex((column) => column.name === name) }));
    if (columns.length === 0 || columns.some(({ index }) => index < 0)) return unidentified(table.table);
    const codes = columns.map(({ index }) => table.columns[index]!.typeCode);
    await this.#learn(taken, codes);
    const types = codes.map((code) => this.#types.get(code));
    // A page converts such a value in its query, and the slot does not.
    const unusable = types.findIndex((type) => type?.select !== undefined);
    if (unusable >= 0) return unusableType(table.table, columns[unusable]!.name, types[unusable]!.databaseType);
    return columns.map((column, i) => ({ ...column, finish: types[i]?.finish }));
  }

  async #learn(taken: TakenSession, codes: readonly string[]): Promise<void> {
    const unknown = codes.filter((code) => !this.#types.has(code));
    if (unknown.length === 0) return;
    const part = (index: number): string[] => unknown.map((code) => code.split('/')[index]!);
    const { rows } = await taken.run({ sql: BASE_TYPES_SQL, bindings: [unknown, part(0), part(1)] });
    const types = await taken.typesOf([...new Set(rows.map(([, base]) => base!))]);
    for (const [code, base] of rows) this.#types.set(code!, types.get(base!)!);
  }
}

/**
 * With REPLICA IDENTITY FULL each column counts as part of the key, which would make a key of the whole row; then, and if
 * no column does, it is the primary key.
 */
async function identityOf(taken: TakenSession, { table, identity, columns }: SlotTable): Promise<string[]> {
  const flagged = columns.filter(({ isKey }) => isKey).map(({ name }) => name);
  if (identity !== 'f' && flagged.length > 0) return flagged;
  const { rows } = await taken.run({ sql: PRIMARY_KEY_SQL, bindings: [table.schema, table.name] });
  return rows.map(([name]) => name!);
}

const unidentified = ({ schema, name }: FeedTable): string =>
  `the slot reports rows of ${schema}.${name}, and nothing in them that identifies them; give the table a primary key`;

const unusableType = ({ schema, name }: FeedTable, column: string, type: string): string =>
  `a slot cannot report rows of ${schema}.${name}, because a key with ${type} (${column}) has another text there than in a query`;
