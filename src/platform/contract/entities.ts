/**
 * The platform's entities (platform-api.md section 2), in camelCase.
 *
 * "required" here is what the client insists on in answers: the fields it acts upon. Unknown extra fields
 * pass, since a platform grows; everything else is optional because the document does not promise it.
 */
import { Type, type Static } from 'typebox';
import { SCHEMA_NAME_PATTERN } from '../../domain/names.js';
import { SCHEMA_CATEGORIES } from '../../domain/sync.js';

const Text = (description: string) => Type.String({ minLength: 1, description });

export const SchemaName = Type.String({
  pattern: SCHEMA_NAME_PATTERN,
  description: 'letters, digits, underscore and hyphen; immutable after creation',
});

export const FieldToExpose = Type.Object({
  name: Type.String(),
  jsonPath: Type.String(),
  exposure: Type.Array(Type.String()),
  description: Type.Optional(Type.String()),
});

export const DisplayMetadata = Type.Object({
  icon: Type.Optional(Type.Object({ type: Type.String(), value: Type.String() })),
  color: Type.Optional(Type.String()),
  reporting: Type.Optional(
    Type.Object({
      status: Type.Optional(Type.Object({ path: Type.String() })),
      effectiveDate: Type.Optional(Type.Object({ path: Type.String() })),
      resourceLink: Type.Optional(Type.Object({ source: Type.String(), path: Type.String() })),
    }),
  ),
});

const Category = Type.Union(SCHEMA_CATEGORIES.map((c) => Type.Literal(c)));

/** Body of 4.4. Each twin may come under either name; which fields are required is "not shown": these are. */
export const SchemaDefinitionInput = Type.Object(
  {
    name: SchemaName,
    description: Type.Optional(Text('what the schema holds')),
    category: Category,
    schema: Type.Object(
      {},
      { additionalProperties: true, description: 'JSON Schema of the resource; references use $ref' },
    ),
    pluralName: Type.Optional(SchemaName),
    plural_name: Type.Optional(SchemaName),
    externalIdField: Type.Optional(Text("field of the resource that is its id in the partner's system")),
    external_id_field: Type.Optional(Text('deprecated name of externalIdField')),
    fieldsToExpose: Type.Optional(Type.Array(FieldToExpose)),
    fields_to_expose: Type.Optional(Type.Array(FieldToExpose)),
    exposeNameJsonPath: Type.Optional(Type.String()),
    displayMetadata: Type.Optional(Type.Union([DisplayMetadata, Type.Null()])),
  },
  { additionalProperties: false },
);

/** Answer of 4.4. */
export const SchemaDefinition = Type.Object({
  id: Type.String(),
  name: Type.String(),
  externalIdField: Type.String(),
  category: Type.String(),
  schema: Type.Object({}, { additionalProperties: true }),
  platformId: Type.Optional(Type.String()),
  pluralName: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  versionNumber: Type.Optional(Type.Integer()),
  referenceSchemas: Type.Optional(Type.Array(Type.String())),
  fieldsToExpose: Type.Optional(Type.Array(FieldToExpose)),
  exposeNameJsonPath: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  displayMetadata: Type.Optional(Type.Union([DisplayMetadata, Type.Null()])),
  createdAt: Type.Optional(Type.String()),
  updatedAt: Type.Optional(Type.String()),
});
export type SchemaDefinition = Static<typeof SchemaDefinition>;

/** A record as 4.10 returns it. */
export const ResourceRecord = Type.Object({
  resourceExternalId: Type.String(),
  data: Type.Object({}, { additionalProperties: true }),
  id: Type.Optional(Type.String()),
  schemaDefinitionId: Type.Optional(Type.String()),
  platformId: Type.Optional(Type.String()),
  businessId: Type.Optional(Type.String()),
  createdAt: Type.Optional(Type.String()),
  updatedAt: Type.Optional(Type.String()),
});
export type ResourceRecord = Static<typeof ResourceRecord>;

/** Transaction resource, item of 4.5. Which fields are required is "not shown": the schema definition decides. */
export const TransactionResource = Type.Object(
  {
    transactionId: Type.Optional(Type.String()),
    transactionDate: Type.Optional(Type.Union([Type.String({ format: 'date-time' }), Type.Null()])),
    transactionTotal: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
    transactionDetailUrl: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    customerId: Type.Optional(Type.Unknown({ description: 'reference to a customer resource' })),
  },
  { additionalProperties: true },
);

/** Answer of 4.5 and 4.8. */
export const BatchAccepted = Type.Object({
  batchId: Text('follow it with 4.14'),
  recordCount: Type.Number(),
  message: Type.Optional(Type.String()),
  schemaDefinitionId: Type.Optional(Type.String()),
});
export type BatchAccepted = Static<typeof BatchAccepted>;

export const MissingDependency = Type.Object({
  externalId: Type.String(),
  schemaDefinitionId: Type.Optional(Type.String()),
  schemaName: Type.Optional(Type.String()),
});

export const PendingResource = Type.Object({
  resourceExternalId: Type.String(),
  missingDependencies: Type.Array(MissingDependency),
  expiresAt: Type.String(),
  id: Type.Optional(Type.String()),
  schemaDefinitionId: Type.Optional(Type.String()),
  schemaName: Type.Optional(Type.String()),
  createdAt: Type.Optional(Type.String()),
});
export type PendingResource = Static<typeof PendingResource>;

const Nullable = <S extends Parameters<typeof Type.Union>[0][number]>(schema: S) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

/** Answer of 4.14. */
export const BatchStatus = Type.Object({
  batchId: Type.String(),
  progress: Type.Object({
    totalRecords: Type.Number(),
    processedRecords: Type.Number(),
    successfulRecords: Type.Number(),
    pendingRecords: Type.Number(),
    failedRecords: Type.Number(),
    successRate: Type.Optional(Type.Number()),
  }),
  createdAt: Type.Optional(Type.String()),
  startedAt: Nullable(Type.String()),
  completedAt: Nullable(Type.String()),
  schemaName: Type.Optional(Type.String()),
  schemaDefinitionId: Type.Optional(Type.String()),
  errors: Nullable(
    Type.Object({
      summary: Nullable(Type.Object({}, { additionalProperties: true })),
      details: Nullable(Type.Object({}, { additionalProperties: true })),
      recordErrors: Nullable(Type.Array(Type.String())),
      message: Nullable(Type.String()),
    }),
  ),
  pendingResources: Nullable(Type.Array(PendingResource)),
});
export type BatchStatus = Static<typeof BatchStatus>;
