/** Whether the key of a row is enough to know its external id: then a deleted row, of which only the key is known, has one, too. */
import type { MappingSpec } from '../../domain/sync/sync.js';
import { lookUpOf } from './external-id-look-up.js';

/** Whether the external id is made of key columns alone, and rows are found by it. */
export function keyTellsId(mapping: Pick<MappingSpec, 'fields' | 'schema' | 'key'>): boolean {
  const how = lookUpOf(mapping);
  return how?.certain === true && how.columns.every((column) => mapping.key.includes(column));
}
