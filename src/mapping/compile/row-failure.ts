/** The reasons why a row gives no record, in the form in which dead letters report them. */
import { encodeJson, type JsonObject } from '../../domain/values/json.js';
import type { FailedRow } from '../../domain/records/record.js';
import { maskedShape } from '../encode/masked-shape.js';
import type { Rejection } from '../encode/rejection.js';

/** The part of an {@link FailedRow} that states the reason; it contains no value of the row. */
export type Failure = Pick<FailedRow, 'code' | 'pointer' | 'rule' | 'reason' | 'shape'>;

/** `mapping_failed`: a transform or the conversion of a field rejected the value. */
export const fieldRejected = (field: string, rejection: Rejection): Failure => ({
  code: 'mapping_failed',
  pointer: `/${field}`,
  ...wordsOf(rejection),
});

/** `tenant_unknown`: the row names no known tenant. The pointer is empty, since the tenant is no field. */
export const tenantUnknown = (rejection: Rejection): Failure => ({
  code: 'tenant_unknown',
  pointer: '',
  ...wordsOf(rejection),
});

const wordsOf = ({ rule, reason, shape }: Rejection) => ({ rule, reason, shape });

/** `mapping_failed`: the field of the external id is null or empty. */
export const noExternalId = (field: string): Failure => ({
  code: 'mapping_failed',
  pointer: `/${field}`,
  rule: 'external id',
  reason: 'the external id is null or empty, so the record has no name on the platform',
  shape: '',
});

/**
 * `external_id_unusable`: the platform could not be queried for a record with this external id, so it must not get one.
 */
export const idUnusable = (field: string, id: unknown, problem: { rule: string; reason: string }): Failure => ({
  code: 'external_id_unusable',
  pointer: `/${field}`,
  ...problem,
  shape: maskedShape(id),
});

/** `value_not_encodable`, for the first field with a lone surrogate; null if the whole record can be encoded. */
export function notEncodable(data: JsonObject): Failure | null {
  const field = Object.keys(data).find((name) => {
    try {
      encodeJson(data[name]!);
      return false;
    } catch {
      return true;
    }
  });
  if (field === undefined) return null;
  const reason = 'contains text that JSON cannot represent (a lone surrogate)';
  const shape = maskedShape(data[field]);
  return { code: 'value_not_encodable', pointer: `/${field}`, rule: 'encodable', reason, shape };
}
