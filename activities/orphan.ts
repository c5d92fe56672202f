/** The dead letter of a record whose parent will not come; the delivery of what it misses brings it back. */
import { PARENT_REASONS, type ParentCode } from '../src/domain/parent.js';
import type { MappedRecord, UnmappableRow } from '../src/domain/record.js';
import { maskedShape } from '../src/mapping/mask.js';
import { namesOf, type MissedParent } from './parents.js';

/**
 * @param missing all parents that are not delivered, first the one that will not come for the reason that `code` names
 * @param refusal what the platform said of the record, masked, where that was about something else
 */
export const orphan = (
  { tenant, externalId, sourceKey }: Pick<MappedRecord, 'tenant' | 'externalId' | 'sourceKey'>,
  missing: readonly MissedParent[],
  code: ParentCode,
  refusal: string | null = null,
): UnmappableRow => ({
  ...{ kind: 'unmappable', tenant, externalId, sourceKey, code },
  pointer: `/${missing[0]!.field}`,
  rule: `reference to ${missing[0]!.schemaName}`,
  reason: refusal === null ? PARENT_REASONS[code] : `${PARENT_REASONS[code]}; the platform said: ${refusal}`,
  shape: maskedShape(missing[0]!.externalId),
  missing: namesOf(missing),
});
