/**
 * Reads a schema definition file (`customer.schema.json`) whose form is valid. Its JSON Schema must compile as well.
 */
import type { JsonObject, JsonValue } from '../../domain/values/json.js';
import { nearest } from '../../domain/values/names.js';
import type { SchemaDefinitionFile } from '../../domain/sync/sync.js';
import { definitionValidator } from '../definition/definition-validator.js';
import type { LanguageFile } from './language-file.js';
import { whyUnsupported } from '../../patterns/pattern.js';
import type { Path } from './place.js';
import { asObject, propertiesOf } from '../definition/target.js';
import { didYouMean } from './violation-message.js';

/**
 * The definition as it is pushed (platform-api.md 4.4). Reports to `file` a wrong name, an unknown external id field,
 * unsupported patterns, and a schema that does not compile. Whether the platform accepts the definition shows when it
 * is pushed.
 */
export function readDefinition(name: string, file: LanguageFile, value: JsonObject): SchemaDefinitionFile {
  // $schema is for editors; the platform does not know it.
  const { $schema: _editors, ...definition } = value as unknown as SchemaDefinitionFile & { $schema?: string };
  if (definition.name !== name)
    file.report(
      'name_mismatch',
      ['name'],
      `must be "${name}", as the file's name says; got ${file.show(['name'], definition.name).text}`,
    );
  const properties = Object.keys(propertiesOf(definition.schema));
  if (!properties.includes(definition.externalIdField)) {
    const { text, secret } = file.show(['externalIdField'], definition.externalIdField);
    const near = secret ? undefined : nearest(definition.externalIdField, properties);
    const message = `${text} is not a property of the schema.${didYouMean(near)} Properties: ${properties.join(', ')}`;
    file.report('unknown_property', ['externalIdField'], message);
  }
  const refused = patternsIn(definition.schema, ['schema']).filter(({ path, pattern }) => {
    const why = whyUnsupported(pattern);
    if (why !== undefined)
      file.report(
        'pattern_unsupported',
        path,
        `the pattern ${file.show(path, pattern).text} cannot be matched in bounded time, since ${why}; write it differently (docs/mapping.md)`,
      );
    return why !== undefined;
  });
  if (refused.length > 0) return definition;
  try {
    definitionValidator(definition.schema);
  } catch (error) {
    const message = error instanceof Error ? error.message : 'does not compile';
    file.report('schema_invalid', ['schema'], `the JSON Schema cannot be used: ${file.withoutSecrets(message)}`);
  }
  return definition;
}

/** Every `pattern`, and every key of `patternProperties`, wherever it is. */
function patternsIn(node: JsonValue, path: Path): { path: Path; pattern: string }[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node as JsonObject).flatMap(([key, value]) => {
    const place = [...path, Array.isArray(node) ? Number(key) : key];
    if (key === 'pattern' && typeof value === 'string') return [{ path: place, pattern: value }];
    const keys = key === 'patternProperties' ? Object.keys(asObject(value) ?? {}) : [];
    return [...keys.map((pattern) => ({ path: [...place, pattern], pattern })), ...patternsIn(value, place)];
  });
}
