/** What is sent for a deleted row: the external id, and the fields that the mapping sets or clears. */
import { encodeJson } from '../domain/json.js';
import type { MappedRecord } from '../domain/record.js';
import type { MappingSpec } from '../domain/sync.js';
import { targetOf } from './target.js';

export interface DeletedRecords {
  readonly deletion: NonNullable<MappedRecord['deletion']>;
  /** The record's JSON text: the same for all rows but for the id. */
  readonly json: (externalId: string) => string;
}

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
