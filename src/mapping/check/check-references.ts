/**
 * Checks the references between mappings: against the schema definitions, and that a run can load them in some order.
 */
import { nearest } from '../../domain/values/names.js';
import { referencesOf } from '../../domain/records/references.js';
import type { FieldSpec, MappingSpec } from '../../domain/sync/sync.js';
import type { LanguageFile } from '../language/language-file.js';
import type { Path } from '../language/place.js';
import { propertiesOf } from '../definition/target.js';
import { deferredReferences } from '../order/running-order.js';
import { didYouMean } from '../language/violation-message.js';

/** A mapping, and the file to which its findings are reported. */
export interface CheckedMapping {
  readonly spec: MappingSpec;
  readonly file: LanguageFile;
}

/**
 * Reports findings to the files. `names` are all mappings of the sync, also those that could not be read: a reference
 * to one of those is no mistake of its own.
 */
export function checkReferences(mappings: readonly CheckedMapping[], names: readonly string[]): void {
  const schemaOf = new Map(mappings.map(({ spec }) => [spec.name, spec.schema.name]));
  for (const { spec, file } of mappings) {
    const references = new Map(referencesOf(spec.schema.schema).map((reference) => [reference.field, reference]));
    for (const [field, fieldSpec] of spec.fields) {
      const reference = references.get(field);
      const path = ['fields', field];
      if (fieldSpec.kind === 'ref')
        checkParent(file, [...path, 'ref'], fieldSpec, names, schemaOf, reference?.schemaName);
      if (reference !== undefined && fieldSpec.kind !== 'ref')
        file.report('ref_expected', path, refExpected(field, reference.schemaName, schemaOf), 'key');
      else if (
        reference === undefined &&
        fieldSpec.kind === 'ref' &&
        Object.hasOwn(propertiesOf(spec.schema.schema), field)
      )
        file.report(
          'ref_unexpected',
          [...path, 'ref'],
          `"${field}" is not a reference ($ref) in the schema ${spec.schema.name}`,
        );
    }
  }
  checkCycle(mappings);
}

/** The parent's mapping must exist and fill the schema that the schema definition refers to (`wanted`). */
function checkParent(
  file: LanguageFile,
  path: Path,
  field: Extract<FieldSpec, { kind: 'ref' }>,
  names: readonly string[],
  schemaOf: ReadonlyMap<string, string>,
  wanted: string | undefined,
): void {
  const { text, secret } = file.show(path, field.mapping);
  if (!names.includes(field.mapping)) {
    const near = secret ? undefined : nearest(field.mapping, names);
    file.report(
      'mapping_missing',
      path,
      `there is no mapping ${text}.${didYouMean(near)} Mappings: ${names.join(', ')}`,
    );
    return;
  }
  const schema = schemaOf.get(field.mapping);
  if (schema !== undefined && wanted !== undefined && schema !== wanted)
    file.report(
      'ref_schema',
      path,
      `the schema definition refers to ${wanted}, and the mapping ${text} fills ${schema}`,
    );
}

/** A plain column would be sent in the same way, but a run would not know that the parents have to be loaded first. */
function refExpected(field: string, schema: string, schemaOf: ReadonlyMap<string, string>): string {
  const parents = [...schemaOf].filter(([, name]) => name === schema).map(([mapping]) => mapping);
  const how =
    parents.length === 0 ? `no mapping here fills ${schema}` : `write { ref: ${parents.join(' or ')}, column: ... }`;
  return `"${field}" is a reference to the schema ${schema}: ${how}`;
}

/**
 * A cycle in which no reference can be left out at first has no order. One finding, at one of its references, is
 * enough.
 */
function checkCycle(mappings: readonly CheckedMapping[]): void {
  const { cycle } = deferredReferences(mappings.map(({ spec }) => spec));
  if (cycle === null) return;
  const { spec, file } = mappings.find((mapping) => mapping.spec.name === cycle[0])!;
  const [field] = [...spec.fields].find(([, fieldSpec]) => fieldSpec.kind === 'ref' && fieldSpec.mapping === cycle[1])!;
  const message =
    `the mappings refer to each other in a cycle (${cycle.join(' -> ')}), and no record on it can be sent first: ` +
    'one of the references must not be required by its schema definition, in a mapping with onConflict: upsert';
  file.report('reference_cycle', ['fields', field, 'ref'], message);
}
