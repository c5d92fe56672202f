/** The mapping language as JSON Schemas: the files from which editors complete also decide what is valid. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { JsonObject } from '../../domain/values/json.js';
import { LANGUAGE_FORMATS } from './language-formats.js';
import { languageFolder } from './language-folder.js';
import { asObject } from '../definition/target.js';

/** The kinds of file of a sync, each with a JSON Schema of the same name in mappings/. */
export const LANGUAGE_FILE_KINDS = ['sync', 'mapping', 'schema-definition', 'examples'] as const;
export type LanguageFileKind = (typeof LANGUAGE_FILE_KINDS)[number];

/** The JSON Schema of one kind of file, compiled in parts. */
export interface LanguageSchema {
  readonly root: JsonObject;
  /** Follows a local `$ref`, which is how the schemas name their definitions. */
  resolve(schema: JsonObject): JsonObject;
  /** Everything that is wrong with `value` by one part of the schema; empty if nothing is. */
  errors(part: JsonObject, value: unknown): readonly ErrorObject[];
}

const loaded = new Map<LanguageFileKind, LanguageSchema>();

/** Read and compiled once per process, on first use. */
export function languageSchema(kind: LanguageFileKind): LanguageSchema {
  let schema = loaded.get(kind);
  if (schema === undefined) {
    schema = load(join(languageFolder(), `${kind}.schema.json`));
    loaded.set(kind, schema);
  }
  return schema;
}

/** Compiles all of the language, which takes a tenth of a second, so that the first run need not wait for it. */
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
    strict: true,
    allowUnionTypes: true,
    strictTypes: false,
    allErrors: true,
    verbose: true,
    // Each start of a worker or a command compiles them. A test proves that they are valid, and optimizing the compiled
    // code takes longer than it saves.
    validateSchema: false,
    code: { optimize: false },
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
        // ajv would reject a second schema with the same $id.
        const { $id: _id, ...keywords } = part;
        validate = ajv.compile({ ...keywords, definitions });
        validators.set(part, validate);
      }
      return validate(value) ? [] : (validate.errors ?? []);
    },
  };
}
