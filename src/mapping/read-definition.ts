/** A schema definition file (`customer.schema.json`), once its form is right; its JSON Schema must compile. */
import type { JsonObject, JsonValue } from '../domain/json.js';
import { nearest } from '../domain/names.js';
import type { SchemaDefinitionFile } from '../domain/sync.js';
import { definitionValidator } from './definition-validator.js';
import type { LanguageFile } from './language-file.js';
import { whyUnsupported } from '../patterns/pattern.js';
import type { Path } from './place.js';
import { asObject, propertiesOf } from './target.js';
import { didYouMean } from './violation-message.js';

export function readDefinition(name: string, file: LanguageFile, value: JsonObject): SchemaDefinitionFile {
  // $schema speaks to editors; the platform would not know it.
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
        `the pattern ${file.show(path, pattern).text} cannot be tried on rows, since ${why}: it might take time without end; write it otherwise (docs/mapping.md)`,
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

/** Every `pattern`, and every key of `patternProperties`, wherever it stands. */
function patternsIn(node: JsonValue, path: Path): { path: Path; pattern: string }[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node as JsonObject).flatMap(([key, value]) => {
    const place = [...path, Array.isArray(node) ? Number(key) : key];
    if (key === 'pattern' && typeof value === 'string') return [{ path: place, pattern: value }];
    const keys = key === 'patternProperties' ? Object.keys(asObject(value) ?? {}) : [];
    return [...keys.map((pattern) => ({ path: [...place, pattern], pattern })), ...patternsIn(value, place)];
  });
}
