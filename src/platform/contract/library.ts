/** The library of automation templates and segment definitions: sections 2 and 3, operation 4.6. */
import { Type, type Static } from 'typebox';
import { Text } from './fields.js';
import { defineOperation } from './operation.js';

const Items = (description: string) =>
  Type.Optional(Type.Array(Type.Object({ id: Type.String({ format: 'uuid' }) }), { description }));

/** The outcome of one item. */
export const LibraryItemResult = Type.Object({
  type: Type.String({ description: 'value shown: automation' }),
  id: Type.String(),
  action: Type.String({ description: 'value shown: sync' }),
  status: Type.String({ description: 'value shown: synced' }),
});
export type LibraryItemResult = Static<typeof LibraryItemResult>;

export const libraryOperations = {
  syncLibrary: defineOperation({
    section: '4.6',
    tag: 'Library',
    command: 'library sync',
    summary: 'Copies library items into a tenant, and removes others.',
    description: '`data` is null if there is nothing to do.',
    method: 'PATCH',
    path: '/partner/engage-library/{tenantId}',
    scope: 'partner',
    // It declares the desired state, so repeating it changes nothing.
    idempotent: true,
    params: Type.Object({ tenantId: Text('id of the tenant') }),
    query: Type.Object({}),
    body: Type.Object(
      { sync: Items('items to copy into the tenant'), unsync: Items('items to remove') },
      { additionalProperties: false },
    ),
    status: 200,
    data: Type.Union([Type.Object({ results: Type.Array(LibraryItemResult), jobId: Type.String() }), Type.Null()]),
    refusals: { notFound: 'There is no such tenant or library item.' },
  }),
};
