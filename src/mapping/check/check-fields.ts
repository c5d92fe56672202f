/** Checks the fields of a mapping against its schema definition (platform-api.md section 2). */
import type { JsonObject } from '../../domain/values/json.js';
import { nearest } from '../../domain/values/names.js';
import { referencesOf } from '../../domain/records/references.js';
import type { MappingSpec } from '../../domain/sync/sync.js';
import { definitionValidator } from '../definition/definition-validator.js';
import type { LanguageFile } from '../language/language-file.js';
import { propertiesOf, requiredOf } from '../definition/target.js';
import { didYouMean } from '../language/violation-message.js';

/**
 * Reports to `file` unknown and missing fields, an external id that can be absent or constant, and invalid constants. A
 * field that is written but faulty is not reported as missing on top.
 */
export function checkFields(mapping: MappingSpec, file: LanguageFile): void {
  const { schema, name, externalIdField } = mapping.schema;
  const properties = Object.keys(propertiesOf(schema));
  for (const field of mapping.fields.keys()) {
    if (properties.includes(field)) continue;
    const near = nearest(
      field,
      properties.filter((property) => !mapping.fields.has(property)),
    );
    const message = `"${field}" is not a property of the schema ${name}.${didYouMean(near)} Properties: ${properties.join(', ')}`;
    file.report('unknown_field', ['fields', field], message, 'key');
  }
  for (const field of new Set([externalIdField, ...requiredOf(schema)]))
    if (!mapping.fields.has(field) && file.partial?.fields.has(field) !== true) {
      const why = field === externalIdField ? 'it is the external id' : 'the schema requires it';
      file.report(
        'field_missing',
        ['fields'],
        `the field "${field}" of the schema ${name} is not mapped, and ${why}`,
        'key',
      );
    }
  if (mapping.fields.get(externalIdField)?.omitNull === true)
    file.report('omit_null', ['fields', externalIdField, 'omitNull'], 'the external id can never be left out');
  if (mapping.fields.get(externalIdField)?.kind === 'constant')
    file.report(
      'constant_invalid',
      ['fields', externalIdField],
      'the external id would be the same for every row',
      'key',
    );
  checkConstants(mapping, file);
}

/** A constant is wrong for every row or for none, so it is validated before any row is read. */
function checkConstants(mapping: MappingSpec, file: LanguageFile): void {
  const { schema } = mapping.schema;
  const references = new Set(referencesOf(schema).map((reference) => reference.field));
  for (const [field, spec] of mapping.fields) {
    if (spec.kind !== 'constant' || references.has(field) || !Object.hasOwn(propertiesOf(schema), field)) continue;
    if (spec.value === null) {
      if (requiredOf(schema).includes(field))
        file.report('constant_invalid', ['fields', field, 'constant'], 'is null, and the schema requires the field');
      continue;
    }
    const rules = brokenRules(schema, { [field]: spec.value });
    if (rules.length > 0)
      file.report(
        'constant_invalid',
        ['fields', field, 'constant'],
        `breaks the schema definition (${rules.join(', ')})`,
      );
  }
}

/**
 * The keywords that the given fields of a record break, each once. Rules of the record as a whole, such as `required`,
 * are left out, since the record is only a part. Empty for a schema that does not compile, which has a finding of its
 * own.
 */
export function brokenRules(schema: JsonObject, record: JsonObject): string[] {
  try {
    const { validate } = definitionValidator(schema);
    validate(record);
    const inside = (validate.errors ?? []).filter((error) => error.instancePath !== '');
    return [...new Set(inside.map((error) => error.keyword))];
  } catch {
    // Reported by read-definition.ts.
    return [];
  }
}
