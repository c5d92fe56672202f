/** Reads a record from the platform (4.10) and compares it with what was or would be sent. */
import type { OpenMapping, Views } from '../delivery/dependencies.js';
import { differingFields } from '../domain/compare.js';
import type { JsonObject } from '../domain/json.js';
import type { MappedRecord } from '../domain/record.js';

/** A record as the platform has it, and the fields in which it differs. */
export interface StoredRecord {
  readonly data: JsonObject;
  readonly differs: readonly string[];
}

/**
 * The platform's record with this tenant and id, compared with `data`; null if there is none. References count as equal
 * in either of their forms. Throws `platform_...` errors.
 *
 * @param budget milliseconds that the request may take, with its retries
 */
export async function compareStored(
  platform: Views['platform'],
  { spec, referenceFields }: OpenMapping,
  { tenant, externalId, data }: Pick<MappedRecord, 'tenant' | 'externalId' | 'data'>,
  budget?: number,
): Promise<StoredRecord | null> {
  const options = { tenant, ...(budget !== undefined && { budget }) };
  const found = await platform.findResource(spec.schema.name, externalId, options);
  if (found === null) return null;
  const stored = found.result.data as JsonObject;
  return { data: stored, differs: differingFields(data, stored, referenceFields) };
}
