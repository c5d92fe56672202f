/** Checks what a change feed needs of a mapping. What it needs of the source is checked against the catalogue. */
import { removesRecords, type MappingSpec } from '../../domain/sync/sync.js';
import { keyTellsId } from '../compile/key-tells-id.js';
import type { LanguageFile } from '../language/language-file.js';

/** Reports findings to `file`; none for a mapping without a feed. */
export function checkChanges(mapping: MappingSpec, file: LanguageFile): void {
  const { feed, relation } = mapping;
  if (feed === null) return;
  if ('query' in relation) {
    file.report(
      'changes_of_query',
      file.writes('changes') ? ['changes'] : ['source', 'query'],
      'a change feed tells the keys of changed rows of a table, and this mapping reads a query; write changes: none, or read the table',
    );
    return;
  }
  if (removesRecords(mapping) && !keyTellsId(mapping))
    file.report(
      'deletes_by_mirror',
      ['deletes'],
      `of a deleted row, a change feed tells only the key (${mapping.key.join(', ')}), and the external id ${mapping.schema.externalIdField} is not made of it alone; such records are found by the next run in mode mirror`,
      'value',
      'warning',
    );
}
