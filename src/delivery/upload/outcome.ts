/** The outcome of a record that was sent, from the batch that proves it to the checkpoint that writes it. */
import type { ParentName } from '../../domain/records/parent.js';
import type { MissingParents } from '../parents/missing-parents.js';
import { blameBesidesParents } from './platform-message.js';

export type Outcome =
  /** The platform has the record as its row says. */
  | { readonly kind: 'accepted' }
  /**
   * The platform rejected it. `message`: what it said about the record, masked; empty if it said nothing. `lateParents`: the
   * parents that it may have lacked when it was sent, and that are there now.
   */
  | { readonly kind: 'rejected'; readonly message: string; readonly lateParents: readonly ParentName[] }
  /**
   * The platform keeps it until its parents arrive. `missing`: the parents that are known to be missing; `expiresAt`:
   * when the platform gives it up, as the platform writes it, or null if it has not said.
   */
  | { readonly kind: 'pending'; readonly missing: readonly ParentName[]; readonly expiresAt: string | null }
  /** Not accepted, or not known to be, while it lacks parents: that may be why, whatever the platform says. */
  | {
      readonly kind: 'lacks_parent';
      /** What the batch proves by itself. */
      readonly proven: 'rejected' | 'unknown';
      readonly missing: readonly ParentName[];
      /** What the platform blames besides the parents, masked; null if nothing. */
      readonly message: string | null;
    }
  /** It cannot be told whether the platform accepted it: the record is read and sent again. */
  | { readonly kind: 'unknown' }
  /** The same, and the platform fails whenever it is sent. `message`: what it said, masked. */
  | { readonly kind: 'failed'; readonly message: string };

/** What a batch can prove about a record before its parents are looked up. */
export type ProvenOutcome = Exclude<Outcome['kind'], 'lacks_parent' | 'failed'>;

/**
 * Outcomes by external id, or one value for the usual case that all records are accepted, so that no object is made for
 * each.
 */
export type BatchOutcomes = ReadonlyMap<string, Outcome> | typeof ALL_ACCEPTED;
export const ALL_ACCEPTED = 'all accepted';

/**
 * The outcome of a record that is not known to be accepted.
 *
 * @param message what the platform said about it: as received, and masked
 * @param parents those that it lacks, or may have lacked
 */
export function notAccepted(
  proven: 'rejected' | 'unknown',
  message: { readonly raw: string; readonly masked: string },
  { missing, late }: MissingParents,
): Outcome {
  if (missing.length > 0)
    return { kind: 'lacks_parent', proven, missing, message: blameBesidesParents(message, missing) };
  return proven === 'rejected' ? { kind: proven, message: message.masked, lateParents: late } : { kind: proven };
}
