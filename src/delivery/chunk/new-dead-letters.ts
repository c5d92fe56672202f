/** The dead letters of records that could be mapped: one function for each reason why a record is not delivered. */
import { times } from '../../domain/timeouts.js';
import { PARENT_REASONS, type ParentCode } from '../../domain/records/parent.js';
import type { MappedRecord, FailedRow } from '../../domain/records/record.js';
import { maskedShape } from '../../mapping/encode/masked-shape.js';
import type { GivenUp } from '../parents/decide-retry.js';
import { namesOf, type ParentReference } from '../parents/parents.js';

type Named = Pick<MappedRecord, 'tenant' | 'externalId' | 'sourceKey'>;
type Reason = Omit<FailedRow, 'kind' | keyof Named>;

const deadLetter = ({ tenant, externalId, sourceKey }: Named, reason: Reason): FailedRow => ({
  kind: 'failed',
  tenant,
  externalId,
  sourceKey,
  ...reason,
});

/** The platform rejected it. `message`: what it said, masked; a path in it is taken as the field at fault. */
export const rejectedRecord = (record: Named, message: string): FailedRow =>
  deadLetter(record, {
    code: 'platform_refused',
    pointer: /(\/[\w/-]+)/.exec(message)?.[1] ?? '',
    rule: 'refused by the platform',
    reason: message === '' ? 'the platform counts it as failed, and does not say why' : message,
    shape: '',
  });

/** It was sent as often as any record is, and each time its outcome stayed unknown. */
export const neverAccepted = (record: Named): FailedRow =>
  deadLetter(record, {
    code: 'platform_refused',
    pointer: '',
    rule: 'failed without a reason',
    reason: `sent ${times('childAttempts') + 1} times; the platform neither stored the record nor said why`,
    shape: '',
  });

/** Another row maps to the same external id, so that neither is sent. */
export const duplicateRecord = (record: Named): FailedRow =>
  deadLetter(record, {
    code: 'duplicate_external_id',
    pointer: '',
    rule: 'unique external id',
    reason: 'another row maps to the same external id',
    shape: '',
  });

/**
 * It waited for its parents, and `decision` says which of them will not come.
 *
 * @param missing all parents that are not delivered
 * @param rejection what the platform blames besides the parents, masked
 */
export function childGivenUp(
  record: Named,
  decision: GivenUp,
  missing: readonly ParentReference[],
  rejection: string | null,
): FailedRow {
  const { because, code } = decision;
  // Nothing is known about the missing parent, so what the platform blames besides is the better reason.
  if (rejection !== null && code === 'parent_unknown')
    return { ...rejectedRecord(record, rejection), missing: namesOf(missing) };
  const others = missing.filter((parent) => parent !== because);
  return childWithoutParent(record, [because, ...others], code, rejection);
}

/**
 * A parent of it will not come. Once all parents that it lacks are delivered, its row is read and sent again.
 *
 * @param missing all parents that are not delivered, beginning with the one that `code` is about
 * @param message what the platform blames besides the parents, masked
 */
export const childWithoutParent = (
  record: Named,
  missing: readonly ParentReference[],
  code: ParentCode,
  message: string | null = null,
): FailedRow =>
  deadLetter(record, {
    code,
    pointer: `/${missing[0]!.field}`,
    rule: `reference to ${missing[0]!.schemaName}`,
    reason: message === null ? PARENT_REASONS[code] : `${PARENT_REASONS[code]}; the platform said: ${message}`,
    shape: maskedShape(missing[0]!.externalId),
    missing: namesOf(missing),
  });
