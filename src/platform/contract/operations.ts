/** The platform's operations (platform-api.md section 4) that exist here so far: the ingestion part. */
import { Type } from 'typebox';
import {
  BatchAccepted,
  BatchStatus,
  ResourceRecord,
  SchemaDefinition,
  SchemaDefinitionInput,
  SchemaName,
  TransactionResource,
} from './entities.js';
import { defineOperation, type Operation } from './operation.js';

const NoParams = Type.Object({});

/** Query of both uploads (4.5, 4.8). */
const UploadQuery = Type.Object({
  onconflict: Type.Optional(
    Type.Union([Type.Literal('upsert'), Type.Literal('reject')], {
      default: 'upsert',
      description:
        'upsert merges with the stored record, null deletes a field; reject makes an existing resource an error',
    }),
  ),
  ignoreUnknownFields: Type.Optional(
    Type.Boolean({ default: false, description: 'true: extra fields are accepted but not saved' }),
  ),
  dependencyWaitTimeout: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 86_400,
      default: 0,
      description: 'seconds to hold a resource whose references are missing',
    }),
  ),
});

const ResourceBody = Type.Object({
  resources: Type.Array(Type.Object({}, { additionalProperties: true })),
});

export const operations = {
  createSchemaDefinition: defineOperation({
    section: '4.4',
    summary: 'Creates a schema definition.',
    method: 'POST',
    path: '/partner/schema-definitions',
    scope: 'partner',
    idempotent: false,
    params: NoParams,
    query: Type.Object({}),
    body: SchemaDefinitionInput,
    status: 200,
    data: SchemaDefinition,
  }),
  uploadTransactions: defineOperation({
    section: '4.5',
    summary: 'Uploads transaction resources as one asynchronous batch.',
    method: 'POST',
    path: '/api/resources/transactions/batch',
    scope: 'tenant',
    idempotent: false,
    params: NoParams,
    query: UploadQuery,
    body: Type.Object({ resources: Type.Array(TransactionResource) }),
    status: 202,
    data: BatchAccepted,
  }),
  uploadResources: defineOperation({
    section: '4.8',
    summary: 'Uploads resources of a schema definition as one asynchronous batch.',
    method: 'POST',
    path: '/api/resources/{schemaDefinitionNameOrId}/batch',
    scope: 'tenant',
    idempotent: false,
    params: Type.Object({ schemaDefinitionNameOrId: SchemaName }),
    query: UploadQuery,
    body: ResourceBody,
    status: 202,
    data: BatchAccepted,
  }),
  getResource: defineOperation({
    section: '4.10',
    summary: 'Reads one resource by its external id.',
    method: 'GET',
    path: '/api/resources/{schemaDefinitionNameOrId}/{externalId}',
    scope: 'tenant',
    idempotent: true,
    params: Type.Object({ schemaDefinitionNameOrId: SchemaName, externalId: Type.String({ minLength: 1 }) }),
    query: Type.Object({
      include: Type.Optional(
        Type.String({ description: 'comma-separated reference fields to resolve, nested by dots' }),
      ),
      referenceFormat: Type.Optional(
        Type.Union([Type.Literal('object'), Type.Literal('id')], {
          description: 'object (default): {type, id}; id: plain id',
        }),
      ),
    }),
    body: null,
    status: 200,
    data: Type.Object({ result: ResourceRecord, included: Type.Optional(Type.Array(ResourceRecord)) }),
  }),
  getBatch: defineOperation({
    section: '4.14',
    summary: 'Reads the status of a batch.',
    method: 'GET',
    path: '/api/batches/{batchId}',
    scope: 'tenant',
    idempotent: true,
    params: Type.Object({ batchId: Type.String({ minLength: 1 }) }),
    query: Type.Object({
      includePendingDetails: Type.Optional(
        Type.Boolean({ description: 'adds pendingResources with their missing dependencies' }),
      ),
    }),
    body: null,
    status: 200,
    data: BatchStatus,
  }),
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof operations;
