/** PostgreSQL's types as the mapping language's, by the type names that format_type() prints. */
import type { SourceType } from '../../domain/source.js';

const TYPES: Readonly<Record<string, SourceType>> = {
  text: 'text',
  'character varying': 'text',
  character: 'text',
  name: 'text',
  citext: 'text',
  inet: 'text',
  cidr: 'text',
  macaddr: 'text',
  smallint: 'integer',
  integer: 'integer',
  bigint: 'integer',
  numeric: 'decimal',
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

/** `numeric(12,2)` -> `decimal`; enums and whatever else prints as text are `other` until a query casts them. */
export function sourceTypeOf(databaseType: string, isEnum: boolean): SourceType {
  return isEnum ? 'text' : (TYPES[databaseType.replace(/\([^)]*\)/, '')] ?? 'other');
}
