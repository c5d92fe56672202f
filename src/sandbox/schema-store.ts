/**
 * Finds schema definitions by name or id, together with their compiled validators. Definitions are immutable, so each
 * is loaded and compiled once per process.
 */
import type { JsonObject } from '../domain/values/json.js';
import { isUuid } from '../domain/values/names.js';
import { referencesOf, type SchemaReference } from '../domain/records/references.js';
import type { SchemaDefinition } from '../platform/contract/schema-definitions.js';
import type { Queryable } from './database.js';
import { compileRecordSchema, type RecordValidator, type SchemaRules } from './json-schema.js';
import { unstorableText } from './storable.js';

/** A schema definition with what record processing derives from it. */
export interface StoredSchema {
  readonly definition: SchemaDefinition;
  readonly id: string;
  readonly name: string;
  readonly externalIdField: string;
  readonly references: readonly SchemaReference[];
  /** Names of the declared properties. Every other field of a record counts as unknown (`ignoreUnknownFields`, 4.8). */
  readonly fields: ReadonlySet<string>;
  readonly validate: RecordValidator;
}

/** The schema definitions of one platform account. */
export interface SchemaStore {
  /** By name or id; undefined if there is none. A name takes precedence over an id of the same spelling. */
  find(nameOrId: string): Promise<StoredSchema | undefined>;
  /** By an id that another row stores. Throws if the definition is missing, which means a damaged database. */
  get(id: string): Promise<StoredSchema>;
  /** All definitions of the platform account, oldest first. */
  list(): Promise<StoredSchema[]>;
  /** Stores a definition; resolves to undefined when its name is taken. */
  create(definition: SchemaDefinition): Promise<StoredSchema | undefined>;
}

/** A row of `sandbox.schema_definitions`. */
interface SchemaRow {
  readonly id: string;
  readonly platform_id: string;
  readonly name: string;
  readonly plural_name: string;
  readonly description: string | null;
  readonly category: string;
  readonly version_number: number;
  readonly reference_schemas: string[];
  readonly schema: JsonObject;
  readonly external_id_field: string;
  readonly fields_to_expose: SchemaDefinition['fieldsToExpose'] | null;
  readonly expose_name_json_path: string | null;
  readonly display_metadata: SchemaDefinition['displayMetadata'];
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Creates the store of one platform account. `rules` apply to every definition that it compiles. */
export function createSchemaStore(db: Queryable, platformId: string, rules: SchemaRules): SchemaStore {
  const byName = new Map<string, StoredSchema>();
  const byId = new Map<string, StoredSchema>();
  const keep = (schema: StoredSchema): StoredSchema => {
    byName.set(schema.name, schema);
    byId.set(schema.id, schema);
    return schema;
  };
  const findBy = async (column: 'name' | 'id', value: string): Promise<StoredSchema | undefined> => {
    const { rows } = await db.query<SchemaRow>(
      `select * from sandbox.schema_definitions where platform_id = $2 and ${column} = $1`,
      [value, platformId],
    );
    return rows[0] === undefined ? undefined : keep(prepareSchema(definitionOf(rows[0]), rules));
  };
  const findById = async (id: string): Promise<StoredSchema | undefined> =>
    byId.get(id) ?? (isUuid(id) ? findBy('id', id) : undefined);
  const find: SchemaStore['find'] = async (nameOrId) => {
    const cached = byName.get(nameOrId);
    if (cached !== undefined) return cached;
    if (unstorableText(nameOrId, 'name') !== undefined) return undefined;
    // A name may look like the id of another definition; the name wins, since a partner chose it.
    return (await findBy('name', nameOrId)) ?? findById(nameOrId.toLowerCase());
  };
  const get: SchemaStore['get'] = async (id) => {
    const schema = await findById(id);
    if (schema === undefined) throw new Error(`schema definition ${id} is missing from the sandbox's database`);
    return schema;
  };
  return {
    find,
    get,
    async list() {
      const { rows } = await db.query<{ id: string }>(
        'select id from sandbox.schema_definitions where platform_id = $1 order by created_at, name',
        [platformId],
      );
      return Promise.all(rows.map(({ id }) => get(id)));
    },
    async create(definition) {
      const schema = prepareSchema(definition, rules);
      return (await insert(db, platformId, definition)) ? keep(schema) : undefined;
    },
  };
}

function prepareSchema(definition: SchemaDefinition, rules: SchemaRules): StoredSchema {
  const schema = definition.schema as JsonObject;
  return {
    definition,
    id: definition.id,
    name: definition.name,
    externalIdField: definition.externalIdField,
    references: referencesOf(schema),
    fields: new Set(Object.keys((schema['properties'] ?? {}) as JsonObject)),
    validate: compileRecordSchema(schema, rules),
  };
}

/** Inserts the definition; false when the platform account already has one of this name. */
async function insert(db: Queryable, platformId: string, d: SchemaDefinition): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into sandbox.schema_definitions
       (id, platform_id, name, plural_name, description, category, version_number, reference_schemas, schema,
        external_id_field, fields_to_expose, expose_name_json_path, display_metadata, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14)
     on conflict on constraint schema_definitions_name_unique do nothing`,
    [
      d.id,
      platformId,
      d.name,
      d.pluralName,
      d.description ?? null,
      d.category,
      d.versionNumber,
      d.referenceSchemas,
      JSON.stringify(d.schema),
      d.externalIdField,
      d.fieldsToExpose === undefined ? null : JSON.stringify(d.fieldsToExpose),
      d.exposeNameJsonPath ?? null,
      d.displayMetadata == null ? null : JSON.stringify(d.displayMetadata),
      d.createdAt,
    ],
  );
  return rowCount === 1;
}

/**
 * The definition as the API returns it: a field that was not sent is left out, except `displayMetadata`, which is null
 * (section 2).
 */
function definitionOf(row: SchemaRow): SchemaDefinition {
  return {
    id: row.id,
    platform_id: row.platform_id,
    name: row.name,
    pluralName: row.plural_name,
    ...(row.description === null ? {} : { description: row.description }),
    category: row.category,
    versionNumber: row.version_number,
    referenceSchemas: row.reference_schemas,
    schema: row.schema,
    externalIdField: row.external_id_field,
    ...(row.fields_to_expose == null ? {} : { fieldsToExpose: row.fields_to_expose }),
    ...(row.expose_name_json_path === null ? {} : { exposeNameJsonPath: row.expose_name_json_path }),
    displayMetadata: row.display_metadata ?? null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
