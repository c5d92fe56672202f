/** For how long the platform may keep what it was sent. */
import { referencesOf } from '../../domain/records/references.js';
import type { OpenMapping } from '../dependencies.js';

/** Seconds for which the platform was asked to keep records whose parents are missing; 0 if none refers to another. */
export const dependencyWaitOf = ({ mapping: { spec } }: { readonly mapping: Pick<OpenMapping, 'spec'> }): number =>
  referencesOf(spec.schema.schema).length > 0 ? spec.options.dependencyWaitTimeout : 0;
