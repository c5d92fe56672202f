/** Why a row became no record: the part of {@link UnmappableRow} that says so, without any value of the row. */
import { encodeJson } from '../domain/json.js';
import type { JsonObject } from '../domain/json.js';
import type { UnmappableRow } from '../domain/record.js';
import { maskedShape } from './mask.js';
import type { Rejection } from './rejection.js';

export type Failure = Pick<UnmappableRow, 'code' | 'pointer' | 'rule' | 'reason' | 'shape'>;

export const fieldRejected = (field: string, rejection: Rejection): Failure => ({
  code: 'mapping_failed',
  pointer: `/${field}`,
  ...wordsOf(rejection),
});

export const tenantUnknown = (rejection: Rejection): Failure => ({
  code: 'tenant_unknown',
  pointer: '',
  ...wordsOf(rejection),
});

const wordsOf = ({ rule, reason, shape }: Rejection) => ({ rule, reason, shape });

export const noExternalId = (field: string): Failure => ({
  code: 'mapping_failed',
  pointer: `/${field}`,
  rule: 'external id',
  reason: 'the external id is null or empty, so the record has no name on the platform',
  shape: '',
});

export const idUnusable = (field: string, id: unknown, problem: { rule: string; reason: string }): Failure => ({
  code: 'external_id_unusable',
  pointer: `/${field}`,
  ...problem,
  shape: maskedShape(id),
});

export function notEncodable(data: JsonObject): Failure {
  const field = Object.keys(data).find((name) => {
    try {
      encodeJson(data[name]!);
      return false;
    } catch {
      return true;
    }
  });
  const reason = 'holds text that JSON cannot carry (a lone surrogate)';
  const shape = maskedShape(data[field ?? '']);
  return { code: 'value_not_encodable', pointer: `/${field ?? ''}`, rule: 'encodable', reason, shape };
}
