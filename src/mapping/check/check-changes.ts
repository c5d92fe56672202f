/** Checks what a change feed needs of a mapping. What it needs of the source is checked against the catalogue. */
import { removesRecords, type MappingSpec } from '../../domain/sync/sync.js';
import { keyTellsId } from '../compile/key-tells.js';
import type { LanguageFile } from '../language/language-file.js';
import { placeOfMode, type SyncHead } from '../language/read-sync.js';
import type { CheckedMapping } from './check-references.js';

/** Reports findings to `file`; none for a mapping without a feed. */
export function checkChanges(mapping: MappingSpec, file: LanguageFile): void {
  const { feed, changedBy, key } = mapping;
  // A faulty part was set aside: what is left of it says nothing.
  if (feed === null || file.findings.some(({ path }) => path.startsWith('changes.tables'))) return;
  if (changedBy.length === 0) {
    file.report(
      'changes_of_query',
      file.writes('changes') ? ['changes'] : ['source', 'query'],
      'a change feed tells the keys of changed rows of tables, and this mapping reads a query; name in changes.tables which tables it reads, or write changes: none',
    );
    return;
  }
  for (const { table, columns, through } of changedBy) {
    if (through !== null && 'table' in through && through.table === table)
      file.report(
        'changes_key',
        ['changes', 'tables', table, 'through'],
        `${table} itself finds nothing for a row of it that was deleted; name its columns that have the values of the key, or another table`,
      );
    const equals = columns.map((column) => column.equals);
    if (through === null && equals.toSorted().join() !== key.toSorted().join())
      file.report(
        'changes_key',
        ['changes', 'tables', table],
        `the columns ${equals.join(', ')} are not the key of the mapping (${key.join(', ')}); name the columns that have its values, or say in "through" which table or query has both`,
      );
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

/** Reports mappings without a feed to `syncFile` if its mode, or that of a schedule, is live: nothing would be heard of them. */
export function checkLiveMode(head: SyncHead, syncFile: LanguageFile, mappings: readonly CheckedMapping[]): void {
  const place = placeOfMode(head, 'live');
  if (place === null) return;
  const without = mappings.filter(({ spec }) => spec.feed === null).map(({ spec }) => spec.name);
  if (without.length > 0)
    syncFile.report(
      'live_without_changes',
      place,
      `these mappings have no change feed: ${without.join(', ')}; name one in changes, or use another mode`,
    );
}

/** While one connection reads the feed, another one finds the keys of affected rows. */
export function checkConnections({ feed, changedBy }: MappingSpec, file: LanguageFile, poolMax: number): void {
  const through = changedBy.find((each) => each.through !== null);
  if (feed === null || through === undefined || poolMax > 1) return;
  file.report(
    'bad_option',
    ['changes', 'tables', through.table, 'through'],
    'needs a second connection to the source beside the one that reads the feed; source.pool.max of sync.yaml is 1',
  );
}
