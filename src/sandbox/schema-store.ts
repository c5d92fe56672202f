/** Schema definitions by name or id, with their compiled validators. They are immutable, so they are kept in memory. */
import type { JsonObject } from '../domain/json.js';
import { referencesOf, type SchemaReference } from '../domain/references.js';
import type { SchemaDefinition } from '../platform/contract/schema-definitions.js';
import type { Queryable } from './database.js';
import { compileRecordSchema, type RecordValidator, type SchemaRules } from './json-schema.js';
import { unstorableText } from './storable.js';

/** A schema definition and what processing needs of it. */
export interface StoredSchema {
  readonly definition: SchemaDefinition;
  readonly id: string;
  readonly name: string;
  readonly externalIdField: string;
  readonly references: readonly SchemaReference[];
  /** Names of the declared properties; every other field of a record is unknown. */
  readonly fields: ReadonlySet<string>;
  readonly validate: RecordValidator;
}

export interface SchemaStore {
  /** By name or id; undefined when there is none. */
  find(nameOrId: string): Promise<StoredSchema | undefined>;
  /** By an id that is stored with other rows. */
  get(id: string): Promise<StoredSchema>;
  /** All of the platform, oldest first. */
  list(): Promise<StoredSchema[]>;
  /** Stores a definition; answers undefined when the name is taken. */
  create(definition: SchemaDefinition): Promise<StoredSchema | undefined>;
}

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

export function createSchemaStore(db: Queryable, platformId: string, rules: SchemaRules): SchemaStore {
  const known = new Map<string, StoredSchema>();
  const keep = (schema: StoredSchema): StoredSchema => {
    known.set(schema.name, schema).set(schema.id, schema);
    return schema;
  };
  const find: SchemaStore['find'] = async (nameOrId) => {
    const cached = known.get(nameOrId);
    if (cached !== undefined) return cached;
    if (unstorableText(nameOrId, 'name') !== undefined) return undefined;
    // A name may look like an id; the name wins, since a partner chose it.
    const { rows } = await db.query<SchemaRow>(
      `select * from sandbox.schema_definitions
        where platform_id = $2 and (name = $1 or id::text = lower($1)) order by (name = $1) desc limit 1`,
      [nameOrId, platformId],
    );
    return rows[0] === undefined ? undefined : keep(prepareSchema(definitionOf(rows[0]), rules));
  };
  const get: SchemaStore['get'] = async (id) => {
    const schema = await find(id);
    if (schema === undefined) throw new Error(`schema definition ${id} is gone from the sandbox's database`);
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

/** The definition as answered: a field that was not given is left out, but `displayMetadata` is null (section 2). */
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
