/** Reads a record from the platform (4.10) and compares it with what was or would be sent. */
import type { OpenMapping, Views } from '../delivery/dependencies.js';
import { differingFields } from '../domain/records/compare.js';
import type { JsonObject } from '../domain/values/json.js';
import type { MappedRecord } from '../domain/records/record.js';
import type { CallOptions } from '../platform/transport.js';

/** A record as the platform has it, and the fields in which it differs. */
export interface StoredRecord {
  readonly data: JsonObject;
  readonly differs: readonly string[];
}

/**
 * The platform's record with this tenant and id, compared with `data`; null if there is none. References count as equal
 * in either of their forms. Throws `platform_...` errors.
 *
 * @param how how long it may take with its retries, and the pace of its requests
 */
export async function compareStored(
  platform: Views['platform'],
  { spec, referenceFields }: OpenMapping,
  { tenant, externalId, data }: Pick<MappedRecord, 'tenant' | 'externalId' | 'data'>,
  how: Pick<CallOptions, 'budget' | 'pace'> = {},
): Promise<StoredRecord | null> {
  const found = await platform.findResource(spec.schema.name, externalId, { tenant, ...how });
  if (found === null) return null;
  const stored = found.result.data;
  return { data: stored, differs: differingFields(data, stored, referenceFields) };
}
