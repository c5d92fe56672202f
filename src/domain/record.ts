/** A mapped row on its way to the platform, or the reason why it cannot go. */
import type { ErrorCode } from './errors.js';
import type { JsonObject } from './json.js';
import type { ParentName } from './parent.js';
import type { SourceKey } from './source.js';

/** A mapped row, as one of the records of a list (record-list.ts). */
export interface MappedRecord {
  readonly kind: 'record';
  readonly tenant: string;
  readonly externalId: string;
  readonly sourceKey: SourceKey;
  /** The text as `encodeJson` writes it (fields in the order of the mapping), and as an object: built when asked for. */
  readonly json: string;
  readonly data: JsonObject;
  /** 128-bit hash of the text, 32 hex digits: equal content, equal hash. Made when it is first asked for. */
  readonly contentHash: string;
  /** Where the row is deleted: whether the record says so (`apply`) or nothing is to be sent (`ignore`). */
  readonly deletion?: 'apply' | 'ignore' | undefined;
}

/**
 * Whether nothing has to be sent. `receipt`: the content that the platform accepted last; null where that is not
 * known, undefined where it has nothing of the record: then a deleted row is no news.
 */
export const isInStep = (
  { contentHash, deletion }: Pick<MappedRecord, 'contentHash' | 'deletion'>,
  receipt: string | null | undefined,
): boolean => deletion === 'ignore' || (deletion === 'apply' && receipt === undefined) || contentHash === receipt;

/** A row that cannot be delivered. Holds no value of the row, only the shape of the offending one. */
export interface UnmappableRow {
  readonly kind: 'unmappable';
  /** null where the tenant itself is the problem. */
  readonly tenant: string | null;
  /** null where the external id itself is the problem. */
  readonly externalId: string | null;
  readonly sourceKey: SourceKey;
  readonly code: ErrorCode;
  /** JSON pointer into the record: `/email`. */
  readonly pointer: string;
  /** The rule that was broken: `format: email`, `transform: phone`, `required`. */
  readonly rule: string;
  /** In words, without the value: `not a valid email`. */
  readonly reason: string;
  /** The masked shape of the value: `text(12) aa9.aaa`; empty when there is none. */
  readonly shape: string;
  /** Parents that were not delivered when it was found out; once all are, the row is read and sent again. */
  readonly missing?: readonly ParentName[];
}

export type MapResult = MappedRecord | UnmappableRow;
