/** Schema definitions: section 2 and operation 4.4. */
import { Type, type Static } from 'typebox';
import { SCHEMA_NAME_PATTERN } from '../../domain/values/names.js';
import { SCHEMA_CATEGORIES } from '../../domain/sync/sync.js';
import { Maybe, OneOf, OpenObject, Text } from './fields.js';
import { defineOperation } from './operation.js';
import { SCHEMA_DEFINITION_ALIASES } from './aliases.js';

/** The pattern of names, in words. */
const form = '1 to 128 letters, digits, "_" or "-", the first one no "-"';

export const SchemaName = Type.String({
  pattern: SCHEMA_NAME_PATTERN,
  form,
  description: 'letters, digits, underscore and hyphen; immutable after creation',
});

export const FieldToExpose = Type.Object({
  name: Type.String(),
  jsonPath: Type.String(),
  exposure: Type.Array(Type.String({ description: 'value shown: segments' })),
  description: Type.Optional(Type.String()),
});

export const DisplayMetadata = Type.Object({
  icon: Type.Optional(Type.Object({ type: Type.String({ description: 'name of an icon set' }), value: Type.String() })),
  color: Type.Optional(Type.String()),
  reporting: Type.Optional(
    Type.Object({
      status: Type.Optional(Type.Object({ path: Type.String() })),
      effectiveDate: Type.Optional(Type.Object({ path: Type.String() })),
      resourceLink: Type.Optional(
        Type.Object({ source: Type.String({ description: 'value shown: field' }), path: Type.String() }),
      ),
    }),
  ),
});

const RecordSchema = OpenObject('JSON Schema of the resource; references use $ref');

/** Body of 4.4. A field may come under its name or its alias; which are required is "not shown": these are. */
export const SchemaDefinitionInput = Type.Object(
  {
    name: SchemaName,
    description: Type.Optional(Text('what the schema holds')),
    category: OneOf(SCHEMA_CATEGORIES),
    schema: RecordSchema,
    pluralName: Type.Optional(SchemaName),
    plural_name: Type.Optional(
      Type.String({ pattern: SCHEMA_NAME_PATTERN, form, deprecated: true, description: 'older name of pluralName' }),
    ),
    externalIdField: Type.Optional(Text("field of the resource that is its id in the partner's system")),
    external_id_field: Type.Optional(
      Type.String({ minLength: 1, deprecated: true, description: 'older name of externalIdField' }),
    ),
    fieldsToExpose: Type.Optional(
      Type.Array(FieldToExpose, { description: 'offered in segments and as merge fields' }),
    ),
    fields_to_expose: Type.Optional(
      Type.Array(FieldToExpose, { deprecated: true, description: 'older name of fieldsToExpose' }),
    ),
    exposeNameJsonPath: Type.Optional(
      Type.String({
        description: 'JSON path of the field that names a resource to the user; without it none is shown',
      }),
    ),
    displayMetadata: Type.Optional(
      Type.Union([DisplayMetadata, Type.Null()], { description: 'null clears all metadata' }),
    ),
  },
  { additionalProperties: false },
);

/** Response of 4.4. */
export const SchemaDefinition = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    externalIdField: Type.String(),
    category: Type.String(),
    schema: RecordSchema,
    platform_id: Maybe(Type.String()),
    pluralName: Maybe(Type.String()),
    description: Maybe(Type.String()),
    versionNumber: Maybe(Type.Integer()),
    referenceSchemas: Maybe(Type.Array(Type.String())),
    fieldsToExpose: Maybe(Type.Array(FieldToExpose)),
    dataConnectionId: Maybe(Type.String()),
    sourceQuery: Maybe(Type.String()),
    deactivatedAt: Maybe(Type.String()),
    exposeNameJsonPath: Maybe(Type.String()),
    displayMetadata: Maybe(DisplayMetadata),
    createdAt: Maybe(Type.String()),
    updatedAt: Maybe(Type.String()),
  },
  { aliases: SCHEMA_DEFINITION_ALIASES },
);
export type SchemaDefinition = Static<typeof SchemaDefinition>;

export const schemaDefinitionOperations = {
  createSchemaDefinition: defineOperation({
    section: '4.4',
    tag: 'Schema definitions',
    command: 'schema-definitions create',
    summary: 'Creates a schema definition.',
    description:
      'Name, plural name, category and external id field can never be changed. Deprecated names of fields are accepted beside the new ones.',
    method: 'POST',
    path: '/partner/schema-definitions',
    scope: 'partner',
    idempotent: false,
    params: Type.Object({}),
    query: Type.Object({}),
    body: SchemaDefinitionInput,
    status: 200,
    statusOpen: true,
    data: SchemaDefinition,
    refusals: { taken: 'A schema definition of this name exists.' },
  }),
};
