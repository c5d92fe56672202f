/** The mapping language as JSON Schemas: the same files that editors complete from decide what is valid. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import type { ErrorObject, ValidateFunction } from 'ajv';
import type { JsonObject } from '../domain/json.js';
import { LANGUAGE_FORMATS } from './language-formats.js';
import { languageFolder } from './package-folder.js';
import { asObject } from './target.js';

export const LANGUAGE_FILE_KINDS = ['sync', 'mapping', 'schema-definition', 'examples'] as const;
export type LanguageFileKind = (typeof LANGUAGE_FILE_KINDS)[number];

export interface LanguageSchema {
  readonly root: JsonObject;
  /** Follows a local `$ref`, which is how the schemas name their definitions. */
  resolve(schema: JsonObject): JsonObject;
  /** Everything that is wrong with `value` by one part of the schema. */
  errors(part: JsonObject, value: unknown): readonly ErrorObject[];
}

const loaded = new Map<LanguageFileKind, LanguageSchema>();

export function languageSchema(kind: LanguageFileKind): LanguageSchema {
  let schema = loaded.get(kind);
  if (schema === undefined) {
    schema = load(join(languageFolder(), `${kind}.schema.json`));
    loaded.set(kind, schema);
  }
  return schema;
}

/** Compiles all of the language, so that the first file need not wait for it: that takes a tenth of a second. */
export function compileLanguage(): void {
  for (const kind of LANGUAGE_FILE_KINDS) {
    const schema = languageSchema(kind);
    schema.errors(schema.root, null);
  }
}

function load(path: string): LanguageSchema {
  const root = JSON.parse(readFileSync(path, 'utf8')) as JsonObject;
  const definitions = asObject(root['definitions']) ?? {};
  const ajv = new Ajv({
    ...{ strict: true, allowUnionTypes: true, strictTypes: false, allErrors: true, verbose: true },
    // Each start of a worker or a command compiles them. That they are valid is proved by a test; and polishing the
    // compiled code takes longer than it saves.
    ...{ validateSchema: false, code: { optimize: false } },
  });
  for (const [name, problem] of Object.entries(LANGUAGE_FORMATS))
    ajv.addFormat(name, (text) => problem(text) === undefined);
  const validators = new Map<JsonObject, ValidateFunction>();
  return {
    root,
    resolve(schema) {
      const reference = schema['$ref'];
      if (typeof reference !== 'string') return schema;
      return asObject(definitions[reference.replace('#/definitions/', '')]) ?? schema;
    },
    errors(part, value) {
      let validate = validators.get(part);
      if (validate === undefined) {
        const { $id: _id, ...keywords } = part;
        validate = ajv.compile({ ...keywords, definitions });
        validators.set(part, validate);
      }
      return validate(value) ? [] : (validate.errors ?? []);
    },
  };
}
