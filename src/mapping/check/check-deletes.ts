/** Checks what a mapping declares about deleted rows (`deletes`) against its fields and its schema definition. */
import { nearest } from '../../domain/values/names.js';
import { removesRecords, type MappingSpec } from '../../domain/sync/sync.js';
import { brokenRules } from './check-fields.js';
import type { CheckedMapping } from './check-references.js';
import type { LanguageFile } from '../language/language-file.js';
import { lookUpOf } from '../compile/external-id-look-up.js';
import type { Path } from '../language/place.js';
import { placeOfMode, type SyncHead } from '../language/read-sync.js';
import { requiredOf } from '../definition/target.js';
import { didYouMean } from '../language/violation-message.js';

/**
 * Reports findings to `file`; none for a mapping without `deletes`. What it checks is that the record of a deleted row
 * is valid, and that a row which comes back overwrites everything that the deletion set or cleared.
 */
export function checkDeletes(mapping: MappingSpec, file: LanguageFile): void {
  const { deletes, options } = mapping;
  if (deletes === null) return;
  if (deletes.values !== null && deletes.column === null)
    file.report('deletes_values', ['deletes', 'values'], 'are the values of a column; name it with column');
  if (deletes.action === 'ignore') return;
  if (options.onConflict === 'reject')
    file.report(
      'deletes_rejected',
      ['options', 'onConflict'],
      'reject would refuse every change of a record, so none could be set or cleared for a deleted row; use upsert',
    );
  const { set, clear } = deletes.action;
  if (Object.keys(set).length + clear.length === 0)
    file.report('deletes_field', ['deletes', 'action'], 'neither sets nor clears a field; to do nothing, write ignore');
  for (const [field, value] of Object.entries(set)) {
    const path = ['deletes', 'action', 'set', field];
    if (!checkField(mapping, file, path, field)) continue;
    if (mapping.fields.get(field)!.omitNull)
      file.report(
        'omit_null',
        path,
        `"${field}" has omitNull, so a row that comes back with NULL would not overwrite it`,
      );
    if (value === null) file.report('deletes_field', path, `null clears "${field}"; write it under clear`);
    else {
      const rules = brokenRules(mapping.schema.schema, { [field]: value });
      if (rules.length > 0) file.report('constant_invalid', path, `breaks the schema definition (${rules.join(', ')})`);
    }
  }
  for (const [index, field] of clear.entries()) {
    const path = ['deletes', 'action', 'clear', index];
    if (!checkField(mapping, file, path, field)) continue;
    if (requiredOf(mapping.schema.schema).includes(field))
      file.report('deletes_field', path, `the schema requires "${field}", so it cannot be cleared`);
    if (Object.hasOwn(set, field)) file.report('deletes_field', path, `"${field}" is set already`);
  }
}

/** Whether the field can be set or cleared at all; if not, reports why. */
function checkField(mapping: MappingSpec, file: LanguageFile, path: Path, field: string): boolean {
  const spec = mapping.fields.get(field);
  if (field === mapping.schema.externalIdField)
    file.report('deletes_field', path, 'the external id names the record and must stay', 'key');
  else if (spec === undefined) {
    const near = nearest(field, [...mapping.fields.keys()]);
    const message = `"${field}" is not among the mapping's fields, so a row that comes back would not overwrite it.${didYouMean(near)}`;
    file.report('deletes_field', path, message, 'key');
  } else if (spec.kind === 'ref' && path.includes('set'))
    file.report('deletes_field', path, `"${field}" is a reference; it can be cleared, not set`, 'key');
  else return true;
  return false;
}

/**
 * Checks that the mappings support the mode `mirror`, if the sync or one of its schedules uses it. Whether the rows'
 * columns have an index for it is checked against the catalog (check-table.ts).
 */
export function checkMirror(head: SyncHead, syncFile: LanguageFile, mappings: readonly CheckedMapping[]): void {
  const place = placeOfMode(head, 'mirror');
  if (place === null) return;
  const acting = mappings.filter(({ spec }) => removesRecords(spec));
  if (acting.length === 0)
    syncFile.report(
      'mirror_without_deletes',
      place,
      'no mapping declares with deletes what happens to records whose rows are gone; declare an action, or use mode full',
    );
  for (const { spec, file } of acting)
    if (lookUpOf(spec)?.certain !== true)
      file.report(
        'mirror_unsure',
        ['fields', spec.schema.externalIdField],
        'mode mirror looks rows up by their external id, which must be a column or a template without transforms (except string)',
      );
}
