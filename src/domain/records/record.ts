/** The result of mapping a row: a record to deliver, or the reason why there is none. */
import type { ErrorCode } from '../errors.js';
import type { JsonObject } from '../values/json.js';
import type { ParentName } from './parent.js';
import type { SourceKey } from '../source/source.js';

/** A mapped row, as one of the records of a list (record-list.ts). */
export interface MappedRecord {
  readonly kind: 'record';
  readonly tenant: string;
  readonly externalId: string;
  readonly sourceKey: SourceKey;
  /** The text as `encodeJson` writes it (fields in the order of the mapping), and the object, which is built on access. */
  readonly json: string;
  readonly data: JsonObject;
  /** 128-bit hash of the text, 32 hex digits; computed at first access. */
  readonly contentHash: string;
  /** For a deleted row: whether the record marks it as deleted (`apply`), or nothing is sent (`ignore`). */
  readonly deletion?: 'apply' | 'ignore' | undefined;
}

/** Whether the record only marks one as deleted. */
export const marksAsDeleted = ({ deletion }: Pick<MappedRecord, 'deletion'>): boolean => deletion === 'apply';

/**
 * Whether nothing has to be sent. `acceptedHash` is null if it is not known, and undefined if the platform does not
 * have the record, so that the deletion of its row need not be sent.
 */
export const isUpToDate = (
  record: Pick<MappedRecord, 'contentHash' | 'deletion'>,
  acceptedHash: string | null | undefined,
): boolean =>
  record.deletion === 'ignore' ||
  (marksAsDeleted(record) && acceptedHash === undefined) ||
  record.contentHash === acceptedHash;

/** A row that cannot be delivered. It contains no value of the row, only the shape of the offending one. */
export interface FailedRow {
  readonly kind: 'failed';
  /** null if the tenant itself is the problem. */
  readonly tenant: string | null;
  /** null if the external id itself is the problem. */
  readonly externalId: string | null;
  readonly sourceKey: SourceKey;
  readonly code: ErrorCode;
  /** JSON pointer into the record: `/email`. */
  readonly pointer: string;
  /** The rule that was broken: `format: email`, `transform: phone`, `required`. */
  readonly rule: string;
  /** In words, without the value: `not a valid email`. */
  readonly reason: string;
  /** The masked shape of the value: `text(12) aa9.aaa`; empty if there is none. */
  readonly shape: string;
  /** Parents that were not delivered at that time; once all are, the row is read and sent again. */
  readonly missing?: readonly ParentName[];
}

export type MapResult = MappedRecord | FailedRow;

/** Whether a row that cannot be mapped names its record all the same. */
export const namesRecord = (
  result: MapResult,
): result is FailedRow & { readonly tenant: string; readonly externalId: string } =>
  result.kind === 'failed' && result.tenant !== null && result.externalId !== null;
