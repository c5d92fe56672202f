/** PostgreSQL's types, by the names that format_type() prints, as those of the mapping language. */
import type { SourceType } from '../../domain/source/source.js';
import type { ColumnType, Session } from '../dialect.js';

const TYPES: Readonly<Record<string, SourceType>> = {
  text: 'text',
  'character varying': 'text',
  character: 'text',
  '"char"': 'text',
  name: 'text',
  citext: 'text',
  inet: 'text',
  cidr: 'text',
  macaddr: 'text',
  macaddr8: 'text',
  bit: 'text',
  'bit varying': 'text',
  interval: 'text', // ISO 8601, by the session's intervalstyle
  'time with time zone': 'text', // has an offset, which `time` has not
  xml: 'text',
  smallint: 'integer',
  integer: 'integer',
  bigint: 'integer',
  numeric: 'decimal',
  money: 'decimal',
  real: 'float',
  'double precision': 'float',
  boolean: 'boolean',
  date: 'date',
  'time without time zone': 'time',
  'timestamp without time zone': 'timestamp',
  'timestamp with time zone': 'timestamptz',
  uuid: 'uuid',
  json: 'json',
  jsonb: 'json',
  bytea: 'bytes',
};

/** `numeric(12,2)` -> `decimal`; types without a kind (ranges, geometry ...) are `other` until a query casts them. */
export function sourceTypeOf(databaseType: string, isEnum: boolean): SourceType {
  if (databaseType.endsWith('[]')) return 'json';
  return isEnum ? 'text' : (TYPES[databaseType.replace(/\([^)]*\)/, '')] ?? 'other');
}

/** Conversions for types whose own text is of no use to a mapping. */
function conversionOf(databaseType: string): Pick<ColumnType, 'select'> {
  // An array's own text has a syntax that only PostgreSQL reads.
  if (databaseType.endsWith('[]')) return { select: (name) => `to_json(${name})` };
  // The text of money depends on the server's locale.
  if (databaseType === 'money') return { select: (name) => `${name}::numeric` };
  return {};
}

/** Types with values that differ and yet compare equal: `a` and `A`, a month and 30 days, `[1.0]` and `[1.00]`. */
const TOLERANT = new Set(['citext', 'interval', 'jsonb']);

const TYPES_SQL = `
  SELECT k.id, format_type(t.oid, k.modifier), t.typtype = 'e',
    EXISTS (SELECT FROM pg_collation WHERE NOT collisdeterministic)
  FROM unnest($1::oid[], $2::int[], $3::text[]) AS k(oid, modifier, id) JOIN pg_type t ON t.oid = k.oid`;

/** The types of the codes `oid/modifier`. */
export async function readTypes(run: Session['run'], codes: readonly string[]): Promise<Map<string, ColumnType>> {
  const part = (index: number): string[] => codes.map((code) => code.split('/')[index]!);
  const { rows } = await run({ sql: TYPES_SQL, bindings: [part(0), part(1), codes] });
  return new Map(
    rows.map(([code, databaseType, isEnum, tolerant]): [string, ColumnType] => {
      const type = sourceTypeOf(databaseType!, isEnum === 't');
      const mayTie = TOLERANT.has(databaseType!) || (tolerant === 't' && type === 'text' && isEnum === 'f');
      return [
        code!,
        {
          type,
          databaseType: databaseType!,
          ...conversionOf(databaseType!),
          ...(mayTie ? { tieBreak: (sql: string) => `${sql}::text COLLATE "C"` } : {}),
        },
      ];
    }),
  );
}
