/** Resources: section 2, the uploads 4.5 and 4.8, and reading one, 4.10. */
import { Type, type Static } from 'typebox';
import { Count, Maybe, NullableBoolean, NullableInteger, OneOf, OpenObject, OpenRecord, Text } from './fields.js';
import { defineOperation } from './operation.js';
import { RESOURCE_ALIASES } from './aliases.js';

/** A record as 4.10 returns it. */
export const ResourceRecord = Type.Object(
  {
    resourceExternalId: Type.String(),
    data: OpenRecord("the resource's own fields"),
    id: Maybe(Type.String()),
    schemaDefinitionId: Maybe(Type.String()),
    platformId: Maybe(Type.String()),
    businessId: Maybe(Type.String()),
    createdAt: Maybe(Type.String()),
    updatedAt: Maybe(Type.String()),
  },
  { aliases: RESOURCE_ALIASES },
);
export type ResourceRecord = Static<typeof ResourceRecord>;

/** Item of 4.5. Which fields are required is "not shown": the schema definition decides. */
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

/** Response of 4.5 and 4.8. */
export const BatchAccepted = Type.Object({
  batchId: Text('poll it with 4.14'),
  recordCount: Maybe(Count),
  message: Maybe(Type.String()),
  schemaDefinitionId: Maybe(Type.String()),
});
export type BatchAccepted = Static<typeof BatchAccepted>;

/** The schema definition in a path. */
const SchemaNameOrId = Text('name or id of the schema definition');

/** Query of both uploads. */
const UploadQuery = Type.Object({
  onconflict: Type.Optional(
    OneOf(['upsert', 'reject'], {
      default: 'upsert',
      description:
        'upsert merges with the stored record, null deletes a field; reject makes an existing resource an error',
    }),
  ),
  ignoreUnknownFields: Type.Optional(
    NullableBoolean({
      default: false,
      description: 'true: extra fields are accepted but not saved; false: a request that has any is rejected',
    }),
  ),
  dependencyWaitTimeout: Type.Optional(
    NullableInteger({
      minimum: 0,
      maximum: 86_400,
      default: 0,
      description: 'seconds to keep a resource pending whose references are missing; 0 rejects it',
    }),
  ),
});

const UPLOAD_REFUSALS = {
  invalid: 'The request is not valid, has no resources, or has fields that the schema does not declare.',
  notFound: 'There is no such schema definition.',
  tooLarge: 'Too many resources, or too many bytes.',
} as const;

export const resourceOperations = {
  uploadTransactions: defineOperation({
    section: '4.5',
    tag: 'Resources',
    command: 'transactions upload',
    summary: 'Uploads transaction resources as one asynchronous batch.',
    description: 'Follow the batch by its id until `completedAt` is set.',
    method: 'POST',
    path: '/api/resources/transactions/batch',
    scope: 'tenant',
    idempotent: false,
    params: Type.Object({}),
    query: UploadQuery,
    body: Type.Object({ resources: Type.Array(TransactionResource) }, { additionalProperties: false }),
    status: 202,
    data: BatchAccepted,
    refusals: UPLOAD_REFUSALS,
    alternativeErrors: true,
  }),
  uploadResources: defineOperation({
    section: '4.8',
    tag: 'Resources',
    command: 'resources upload',
    summary: 'Uploads resources of a schema definition as one asynchronous batch.',
    description: 'Follow the batch by its id until `completedAt` is set.',
    method: 'POST',
    path: '/api/resources/{schemaDefinitionNameOrId}/batch',
    scope: 'tenant',
    idempotent: false,
    params: Type.Object({ schemaDefinitionNameOrId: SchemaNameOrId }),
    query: UploadQuery,
    body: Type.Object(
      { resources: Type.Array(OpenObject('a resource of the schema definition')) },
      { additionalProperties: false },
    ),
    status: 202,
    data: BatchAccepted,
    refusals: UPLOAD_REFUSALS,
    alternativeErrors: true,
  }),
  getResource: defineOperation({
    section: '4.10',
    tag: 'Resources',
    command: 'resources get',
    summary: 'Reads one resource by its external id.',
    method: 'GET',
    path: '/api/resources/{schemaDefinitionNameOrId}/{externalId}',
    scope: 'tenant',
    idempotent: true,
    params: Type.Object({
      schemaDefinitionNameOrId: SchemaNameOrId,
      externalId: Text("the resource's id in the partner's system"),
    }),
    query: Type.Object({
      include: Type.Optional(
        Type.String({ description: 'comma-separated reference fields to resolve, nested by dots' }),
      ),
      referenceFormat: Type.Optional(
        OneOf(['object', 'id'], {
          description: 'object (default): each reference is {type, id}; id: plain id, the recommended form',
        }),
      ),
    }),
    body: null,
    status: 200,
    data: Type.Object({ result: ResourceRecord, included: Maybe(Type.Array(ResourceRecord)) }),
    repeats: { param: 'externalId', at: ['result', 'resourceExternalId'] },
    refusals: { notFound: 'There is no such schema definition or resource.' },
    alternativeErrors: true,
  }),
};
