/** Deleted rows: how a row is recognised as deleted, and the record that is sent for it. */
import { encodeJson } from '../../domain/values/json.js';
import type { MappedRecord } from '../../domain/records/record.js';
import type { ByteRow, SourceColumn, SourceType } from '../../domain/source/source.js';
import type { DeletesSpec, MappingSpec } from '../../domain/sync/sync.js';
import { targetOf } from '../definition/target.js';
import type { PlacedColumn } from './field-writer.js';

/**
 * Whether a `deletes` column of this type needs no list of values: it is true, or contains the time of the deletion.
 */
export const marksDeletionByItself = (type: SourceType): boolean =>
  type === 'boolean' || type === 'timestamptz' || type === 'timestamp' || type === 'date';

/** As people write the values of a boolean column, and databases theirs: one of SQLite holds what was written to it. */
const BOOLEANS: ReadonlyMap<string, string> = new Map([
  ...['t', 'true', '1'].map((text) => [text, 't'] as const),
  ...['f', 'false', '0'].map((text) => [text, 'f'] as const),
]);

/** The value of a boolean column as most sources give it, `t` or `f`; undefined if the text is neither true nor false. */
export const booleanText = (text: string): string | undefined => BOOLEANS.get(text.toLowerCase());

/** PostgreSQL pads a `character(3)` with blanks, which count for nothing when it compares two of them. */
const isPadded = ({ databaseType }: SourceColumn): boolean => /^n?char(acter)?\(|^bpchar/i.test(databaseType);

/**
 * A function that tells whether a row is marked as deleted; null if the mapping has no column for that. Without a list
 * of values, a boolean column means deleted if it is true, any other column if it contains a date or time. Those of MySQL that
 * are all zeros are none, nor are infinity and the empty text of SQLite.
 */
export function deletedRowTest(
  deletes: DeletesSpec | null,
  placed: (name: string) => PlacedColumn,
): ((row: ByteRow) => boolean) | null {
  if (deletes === null || deletes.column === null) return null;
  const { index, column } = placed(deletes.column);
  const { values } = deletes;
  if (values !== null) {
    const comparable = comparableIn(column);
    const meant = new Set(values.map(comparable));
    return (row) => {
      const text = row.text(index);
      return text !== null && meant.has(comparable(text));
    };
  }
  return column.type === 'boolean'
    ? (row) => booleanText(row.text(index) ?? '') === 't'
    : (row) => /[1-9]/.test(row.text(index) ?? '');
}

/** A function that gives values which mean the same the same text. */
function comparableIn(column: SourceColumn): (text: string) => string | undefined {
  if (column.type === 'boolean') return booleanText;
  return isPadded(column) ? (text) => text.replace(TRAILING_BLANKS, '') : (text) => text;
}

const TRAILING_BLANKS = /(?<! ) +$/;

/** The records that a mapping sends for deleted rows. */
export interface DeletedRecords {
  /** `ignore` if the mapping leaves the platform's records of deleted rows as they are. */
  readonly deletion: NonNullable<MappedRecord['deletion']>;
  /** The JSON text of the record: the external id, then the fields that are set or cleared, the same for all rows. */
  readonly json: (externalId: string) => string;
}

/**
 * The record has no other fields than those that `deletes` names, and upserts merge (4.8), so everything else stays on
 * the platform. A cleared field is sent as null, which deletes it there. The external id is written as text or as a
 * number, as the schema definition declares it.
 */
export function deletedRecords({ deletes, schema: { schema, externalIdField } }: MappingSpec): DeletedRecords {
  const action = deletes?.action ?? 'ignore';
  const { set, clear } = action === 'ignore' ? { set: {}, clear: [] } : action;
  const rest = [...Object.entries(set), ...clear.map((field): [string, null] => [field, null])]
    .map(([field, value]) => `,${JSON.stringify(field)}:${encodeJson(value)}`)
    .join('');
  const { types } = targetOf(schema, externalIdField);
  const isText = types.length === 0 || types.includes('string');
  return {
    deletion: action === 'ignore' ? 'ignore' : 'apply',
    json: (externalId) =>
      `{${JSON.stringify(externalIdField)}:${isText ? JSON.stringify(externalId) : externalId}${rest}}`,
  };
}
