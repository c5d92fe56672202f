/** For how long the platform may keep what it was sent. */
import { referencesOf } from '../../domain/records/references.js';
import type { OpenMapping, OpenSync } from '../dependencies.js';
import type { CounterProof } from './batch-status.js';

interface OfMapping {
  readonly mapping: Pick<OpenMapping, 'spec'>;
}

/** Seconds for which the platform was asked to keep records whose parents are missing; 0 if none refers to another. */
export const dependencyWaitOf = ({ mapping: { spec } }: OfMapping): number =>
  referencesOf(spec.schema.schema).length > 0 ? spec.options.dependencyWaitTimeout : 0;

/** Seconds from its POST on after which the platform has applied or given up what it was sent. */
export const longestKept = (context: OfMapping & { readonly sync: Pick<OpenSync, 'spec'> }): number =>
  context.sync.spec.upload.inDoubtDelay + dependencyWaitOf(context);

/** Whether any record of the batch may be one that the platform counts as pending and does not list. */
export const hasUnlistedPending = (
  context: OfMapping,
  counted: Pick<CounterProof, 'unlistedPending'> | null,
): boolean => dependencyWaitOf(context) > 0 && (counted?.unlistedPending ?? 0) > 0;
