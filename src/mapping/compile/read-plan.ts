/** What a mapping reads from its source: which columns, and in which order the rows come. */
import type { ReadPlan } from '../../domain/source/source.js';
import type { FieldSpec, MappingSpec, TenantConfig } from '../../domain/sync/sync.js';
import type { Path } from '../language/place.js';
import { templateColumns } from '../language/template.js';

/** The plan by which the source reads the rows of a mapping, in the order of its cursor if it has one. */
export const readPlanOf = (mapping: MappingSpec, tenant: TenantConfig): ReadPlan => ({
  relation: mapping.relation,
  columns: columnsOf(mapping, tenant),
  key: mapping.key,
  cursor: mapping.cursor?.column ?? null,
  cursorZone: mapping.cursor?.zone ?? null,
});

/** The columns that a mapping selects, each once, in the order of the values of its rows. */
export function columnsOf(mapping: MappingSpec, tenant: TenantConfig): string[] {
  return [...new Set(namedColumns(mapping, tenant).map(({ name }) => name))];
}

/**
 * The columns that a mapping names, with the path of each mention: key, cursor, tenant, deletes, then fields. A column
 * that is named several times is listed several times. The tenant column is named in sync.yaml, so its path here is
 * `source`.
 */
export function namedColumns(mapping: MappingSpec, tenant: TenantConfig): { name: string; path: Path }[] {
  const fields = [...mapping.fields].flatMap(([field, spec]) =>
    fieldColumns(spec).map((name, index) => ({ name, path: ['fields', field, ...placeOfColumn(spec, index)] })),
  );
  return [
    ...mapping.key.map((name, index) => ({ name, path: ['key', index] })),
    ...(mapping.cursor === null ? [] : [{ name: mapping.cursor.column, path: ['cursor', 'column'] }]),
    ...(tenant.kind === 'constant' ? [] : [{ name: tenant.column, path: ['source'] }]),
    ...(mapping.deletes?.column == null ? [] : [{ name: mapping.deletes.column, path: ['deletes', 'column'] }]),
    ...fields,
  ];
}

/** Path of the column at `index` of {@link fieldColumns}, relative to the field. */
const placeOfColumn = (spec: FieldSpec, index: number): Path =>
  spec.kind === 'coalesce' ? ['coalesce', index] : [spec.kind === 'template' ? 'template' : 'column'];

/** The columns that a field is filled from; none for a constant, nor for a template that does not parse. */
export function fieldColumns(spec: FieldSpec): readonly string[] {
  switch (spec.kind) {
    case 'constant':
      return [];
    case 'template':
      return templateColumns(spec.template);
    case 'coalesce':
      return spec.columns;
    case 'column':
    case 'ref':
      return [spec.column];
  }
}
