/** Why the platform refused a record that lacks a parent: its words refine the reason, and decide nothing else. */
import type { ParentName } from '../src/domain/parent.js';

/** What the platform may call a reference that leads nowhere, beside the parent's own id. */
const OF_REFERENCES = /dependenc|referenc|parent/i;

/**
 * The masked words where they accuse the record of something else than a missing parent; null where they speak of the
 * parent, or say nothing.
 */
export function refusalOf(words: string, masked: string, missing: readonly ParentName[]): string | null {
  const speaksOfParent = OF_REFERENCES.test(words) || missing.some(({ externalId }) => words.includes(externalId));
  return masked === '' || speaksOfParent ? null : masked;
}
