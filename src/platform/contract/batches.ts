/** Batches: section 2 and operation 4.14. */
import { Type, type Static } from 'typebox';
import { Count, Maybe, OpenObject, Text } from './fields.js';
import { defineOperation } from './operation.js';

/** A record that a pending one refers to and that the platform does not have. */
export const MissingDependency = Type.Object({
  externalId: Type.String(),
  schemaDefinitionId: Maybe(Type.String()),
  schemaName: Maybe(Type.String()),
});

/** A record that the platform keeps for a missing parent; shown with `includePendingDetails`. */
export const PendingResource = Type.Object({
  resourceExternalId: Type.String(),
  missingDependencies: Maybe(Type.Array(MissingDependency)),
  expiresAt: Maybe(Type.String()),
  id: Maybe(Type.String()),
  schemaDefinitionId: Maybe(Type.String()),
  schemaName: Maybe(Type.String()),
  createdAt: Maybe(Type.String()),
});
export type PendingResource = Static<typeof PendingResource>;

/** Response of 4.14. */
export const BatchStatus = Type.Object({
  batchId: Type.String(),
  progress: Maybe(
    Type.Object({
      totalRecords: Maybe(Count),
      processedRecords: Maybe(Count),
      successfulRecords: Maybe(Count),
      pendingRecords: Maybe(Count),
      failedRecords: Maybe(Count),
      successRate: Maybe(Type.Number()),
    }),
  ),
  createdAt: Maybe(Type.String()),
  startedAt: Maybe(Type.String()),
  completedAt: Maybe(Type.String({ description: 'set once every resource has its outcome' })),
  schemaName: Maybe(Type.String()),
  schemaDefinitionId: Maybe(Type.String()),
  errors: Maybe(
    Type.Object({
      summary: Maybe(OpenObject('counts by kind')),
      details: Maybe(OpenObject('more about the failures')),
      recordErrors: Maybe(Type.Array(Type.String())),
      message: Maybe(Type.String()),
    }),
  ),
  pendingResources: Maybe(Type.Array(PendingResource)),
});
export type BatchStatus = Static<typeof BatchStatus>;

export const batchOperations = {
  getBatch: defineOperation({
    section: '4.14',
    tag: 'Resources',
    command: 'batches get',
    summary: 'Reads the status of a batch.',
    method: 'GET',
    path: '/api/batches/{batchId}',
    scope: 'tenant',
    idempotent: true,
    params: Type.Object({ batchId: Text('id that the upload returned') }),
    query: Type.Object({
      includePendingDetails: Type.Optional(
        Type.Boolean({ description: 'adds pendingResources with their missing dependencies' }),
      ),
    }),
    body: null,
    status: 200,
    data: BatchStatus,
    repeats: { param: 'batchId', at: ['batchId'] },
    refusals: { notFound: 'There is no such batch.' },
  }),
};
