/** What the reading thread and its owner ask of each other. Readers and groups under way go by numbers that the owner gives. */
import type { SentLetters } from '../../domain/letter-list.js';
import type { SentRecords } from '../../domain/record-list.js';
import type { Source } from '../../domain/source.js';
import type { MappingSpec, SourceConfig, TenantRule } from '../../domain/sync.js';
import type { Group } from '../group.js';
import type { RowRange } from '../read-groups.js';

/** The methods of a source that are asked for by name. */
export type SourceMethod = Exclude<keyof Source, 'close'>;

/** A mapping; its number stands for this spec and tenant rule alone. */
export interface SentMapping {
  readonly id: number;
  readonly spec: MappingSpec;
  readonly tenant: TenantRule;
}

export interface SentGroup extends Omit<Group, 'records' | 'letters'> {
  readonly records: SentRecords;
  readonly letters: SentLetters;
}

/** What the thread answers to. A type, since an interface is no table of functions. */
export type ThreadAnswers = {
  open: (reader: number, config: SourceConfig) => void;
  source: (reader: number, method: SourceMethod, args: readonly unknown[]) => Promise<unknown>;
  close: (reader: number) => Promise<void>;
  begin: (groups: number, reader: number, mapping: SentMapping, range: RowRange) => void;
  /** null: there are no more. */
  next: (groups: number) => Promise<SentGroup | null>;
  end: (groups: number) => Promise<void>;
};

/** What its owner answers to. */
export type OwnerAnswers = {
  /** A logical time for these groups. */
  stamp: (groups: number) => Promise<string>;
};
