/** 4.5 and 4.8: accepts an upload and leaves its processing to the batch workers. */
import { quantity } from '../../domain/values/quantity.js';
import { acceptBatch } from '../processing/accept-batch.js';
import { unknownFieldsOf } from '../processing/incoming.js';
import { Refusal } from '../refusal.js';
import type { StoredSchema } from '../schema-store.js';
import { findSchema, type Call, type Handler, type OperationResponse, type Services } from './handler.js';
import type { Operations } from '../../platform/contract/operations.js';
import type { BatchAccepted } from '../../platform/contract/resources.js';

/**
 * Section 4.8: an upload to the schema definition in the path. Returns as soon as the upload is stored, before any record
 * is processed.
 */
export const uploadResources: Handler<'uploadResources'> = (call, services) =>
  upload(call.params.schemaDefinitionNameOrId, call, services);

/** Section 4.5: the same for the schema definition that the setting `transactionsSchema` names. */
export const uploadTransactions: Handler<'uploadTransactions'> = (call, services) =>
  upload(services.settings.transactionsSchema, call, services);

/** What both operations have in common. */
type UploadCall = Pick<Call<Operations['uploadResources']>, 'query' | 'body' | 'bodyText' | 'tenant'>;

/**
 * Refuses with `notFound` for an unknown schema definition, `tooLarge` for too many records, and `invalid` for none or
 * for undeclared fields.
 */
async function upload(
  nameOrId: string,
  call: UploadCall,
  services: Services,
): Promise<OperationResponse<BatchAccepted>> {
  const { resources } = call.body;
  const { maxRecordsPerBatch, minRecordsPerBatch, records } = services.settings;
  const schema = await findSchema(services, nameOrId);
  if (resources.length < minRecordsPerBatch)
    throw new Refusal('invalid', 'resources is empty; send at least one record');
  if (resources.length > maxRecordsPerBatch)
    throw new Refusal('tooLarge', `${resources.length} resources; an upload may have at most ${maxRecordsPerBatch}`);
  const ignoreUnknownFields = call.query.ignoreUnknownFields ?? false;
  if (!ignoreUnknownFields && records.unknownFields === 'refuse_upload') refuseUnknownFields(schema, resources);

  const batchId = await acceptBatch(services.pool, {
    tenantId: call.tenant.id,
    schemaId: schema.id,
    onConflict: call.query.onconflict ?? 'upsert',
    ignoreUnknownFields,
    waitSeconds: call.query.dependencyWaitTimeout ?? 0,
    bodyText: call.bodyText,
    recordCount: resources.length,
  });
  services.workers.notify();
  const message = `${quantity(resources.length, 'resource')} accepted for processing`;
  return { message, data: { batchId, message, recordCount: resources.length, schemaDefinitionId: schema.id } };
}

/** Refuses the whole request: "request with extra fields rejected" (4.8). Only declared properties are known. */
function refuseUnknownFields(schema: StoredSchema, resources: readonly object[]): void {
  const unknown = resources.flatMap((resource, i) =>
    unknownFieldsOf(schema, resource).map((field) => `resources/${i} has the unknown field ${JSON.stringify(field)}`),
  );
  if (unknown.length > 0)
    throw new Refusal(
      'invalid',
      `the request has fields that schema "${schema.name}" does not declare; correct them, or send ignoreUnknownFields=true`,
      unknown,
    );
}
