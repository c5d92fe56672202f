/** Why a parent that a child refers to will not come: codes of the catalogue of errors, for letters and waiting records. */
import type { ErrorCode } from './errors.js';

/** A record that another one refers to; it belongs to the same tenant. */
export interface ParentName {
  readonly schemaName: string;
  readonly externalId: string;
}

export const PARENT_REASONS = {
  parent_missing: 'refers to a parent that is not in the source',
  parent_filtered: "refers to a parent that the query of the parent's mapping does not give",
  parent_rejected: 'refers to a parent that cannot be delivered itself',
  parent_in_other_tenant: 'refers to a parent that belongs to another tenant',
  parent_unknown: 'refers to a parent that the platform does not have, and that cannot be looked up in the source',
} as const satisfies Partial<Record<ErrorCode, string>>;

export type ParentCode = keyof typeof PARENT_REASONS;
export const PARENT_CODES = Object.keys(PARENT_REASONS) as readonly ParentCode[];

export const isParentCode = (code: string): code is ParentCode => code in PARENT_REASONS;
