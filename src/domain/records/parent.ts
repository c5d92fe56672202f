/** Why the parent of a record will not arrive: error codes for dead letters and waiting records. */
import type { ErrorCode } from '../errors.js';

/** The name of a record that another one of the same tenant refers to. */
export interface ParentName {
  readonly schemaName: string;
  readonly externalId: string;
}

/** By code: what is wrong with the child's reference. */
export const PARENT_REASONS = {
  parent_missing: 'refers to a parent that is not in the source',
  parent_filtered: "refers to a parent that the query of the parent's mapping does not return",
  parent_rejected: 'refers to a parent that cannot be delivered itself',
  parent_in_other_tenant: 'refers to a parent that belongs to another tenant',
  parent_unknown: 'refers to a parent that the platform does not have, and that cannot be looked up in the source',
} as const satisfies Partial<Record<ErrorCode, string>>;

/** The codes of {@link PARENT_REASONS}; each has an entry in the catalogue of errors, with its remedy. */
export type ParentCode = keyof typeof PARENT_REASONS;

export const isParentCode = (code: string): code is ParentCode => code in PARENT_REASONS;
