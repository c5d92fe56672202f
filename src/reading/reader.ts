/** A source and the groups of mapped rows that are read from it. */
import type { Source } from '../domain/source.js';
import type { SourceConfig } from '../domain/sync.js';
import { openSource } from '../source/open-source.js';
import type { Group, NewRecords } from './group.js';
import type { MappedReading } from './mapped-reading.js';
import { readGroups, type RowRange } from './read-groups.js';

export interface Reader {
  readonly source: Source;
  /** Groups of the range in reading order. `stamp` draws a logical time, later than all that were drawn before. */
  readonly groups: (
    reading: MappedReading,
    range: RowRange,
    stamp: () => Promise<string>,
    newRecords?: NewRecords,
  ) => AsyncGenerator<Group>;
}

export type OpenReader = (config: SourceConfig) => Reader;

/** In this thread; hashes are made when they are asked for. */
export const openReader: OpenReader = (config) => {
  const source = openSource(config);
  return { source, groups: (...asked) => readGroups(source, ...asked) };
};
