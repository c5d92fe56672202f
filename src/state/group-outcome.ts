/** What became of a group of rows: everything that one checkpoint writes. */
import type { LetterList } from '../domain/letter-list.js';
import type { ParentCode, ParentName } from '../domain/parent.js';
import type { UnmappableRow } from '../domain/record.js';
import type { Books } from '../domain/run.js';
import type { Position, SourceKey } from '../domain/source.js';
import type { Bulk, RecordOutcome } from './record-outcomes.js';

/** The column of the books in which a row ended. */
export type Column = Exclude<keyof Books, 'read'>;

/** Where one row ended. */
export interface RowEnd {
  readonly tenantId: number;
  /** null where the row has none that could be told. */
  readonly externalId: string | null;
  readonly sourceKey: SourceKey;
  readonly column: Column;
}

export interface WaitingRecord {
  readonly tenantId: number;
  readonly externalId: string;
  readonly sourceKey: SourceKey;
  readonly reason: 'dependency' | 'busy' | 'expired' | 'unclear' | ParentCode;
  /** The batch in which the platform holds the record; null when it is to be read and sent again. */
  readonly batchId: string | null;
  /** What that batch was sent with. */
  readonly contentHash: string | null;
  readonly missing: readonly ParentName[];
  /** What the platform refused it for, masked, where its words did not speak of a missing parent. */
  readonly refusal?: string | null;
  /** When the platform lets it go, in the platform's own words; null where it has not said. */
  readonly expiresAt: string | null;
  /** Seconds until it is worth looking again; of a held record: for which the platform holds it at most. */
  readonly dueIn: number;
}

export interface DeadLetter extends Omit<UnmappableRow, 'kind' | 'tenant'> {
  /** 0 where the row named no known tenant. */
  readonly tenantId: number;
}

/** As a list, since they may be all of a group. */
export interface Unmapped {
  readonly letters: LetterList;
  /** 0 for null. */
  readonly tenantIdOf: (tenant: string | null) => number;
}

/**
 * How the rows of a group came to be looked at.
 * - `first`: read in a range's order; they count in its books, and an earlier reading that waits is superseded.
 * - `again`: waiting records, read again by their keys; they move in the books from waiting to where they ended.
 * - `held`: not read, but followed on the platform in the batch that holds them, of which the follower has seen so
 *   many records open.
 */
export type Reading =
  | { readonly kind: 'first' | 'again'; readonly before: string; readonly after: string }
  | {
      readonly kind: 'held';
      readonly batchId: string;
      readonly seen: number;
      readonly before: string;
      readonly after: string;
    };

export interface GroupOutcome {
  readonly reading: Reading;
  readonly bulk: readonly Bulk[];
  /** Of the records that were sent, beyond those in `bulk`. */
  readonly records: readonly RecordOutcome[];
  /** Batches that are through, and batches of which only waiting records are open (with their ids). */
  readonly settled: readonly string[];
  readonly held: readonly { readonly id: string; readonly externalIds: readonly string[] }[];
  readonly waiting: readonly WaitingRecord[];
  readonly deadLetters: readonly DeadLetter[];
  /** Dead letters of rows that could not be mapped, beyond those in `deadLetters`. */
  readonly unmapped?: Unmapped;
  /** Every row of the group, once, beyond those in `bulk` and `unmapped`. */
  readonly ends: readonly RowEnd[];
  /** Rows that were read, beyond those in `bulk`, `unmapped` and `ends`: read twice in one group, they count as unchanged. */
  readonly readTwice: number;
  /** Where the group ends; null leaves the range's position alone. */
  readonly position: Position | null;
  readonly done: boolean;
}

/** The ends of rows that were mapped, those of the bulk too. */
export const mappedEndsOf = ({ bulk, ends }: Pick<GroupOutcome, 'bulk' | 'ends'>): RowEnd[] => [
  ...ends,
  ...bulk.flatMap(({ tenantId, column, records }) =>
    records.map(({ externalId, sourceKey }) => ({ tenantId, externalId, sourceKey, column })),
  ),
];

/** Every row's end. */
export const endsOf = (group: Pick<GroupOutcome, 'bulk' | 'ends' | 'unmapped'>): RowEnd[] => [
  ...mappedEndsOf(group),
  ...Array.from(group.unmapped?.letters ?? [], ({ tenant, externalId, sourceKey }): RowEnd => {
    return { tenantId: group.unmapped!.tenantIdOf(tenant), externalId, sourceKey, column: 'deadLettered' };
  }),
];

/** The dead letters, one after the other. */
export function* deadLettersOf({
  deadLetters,
  unmapped,
}: Pick<GroupOutcome, 'deadLetters' | 'unmapped'>): Generator<DeadLetter> {
  yield* deadLetters;
  for (const { kind: _, tenant, ...letter } of unmapped?.letters ?? [])
    yield { ...letter, tenantId: unmapped!.tenantIdOf(tenant) };
}

/** How many rows have ended. */
export const rowsOf = ({ bulk, ends, unmapped }: Pick<GroupOutcome, 'bulk' | 'ends' | 'unmapped'>): number =>
  bulk.reduce((sum, { records }) => sum + records.length, ends.length) + (unmapped?.letters.length ?? 0);

/** What is added to the books of one tenant in one range; a resolved waiting record moves between columns. */
export interface BooksEntry extends Books {
  readonly rangeId: string;
  readonly tenantId: number;
}

/** Nothing but the word that a range is read to its end. */
export const END_OF_RANGE: GroupOutcome = {
  reading: { kind: 'first', before: '0', after: '0' },
  bulk: [],
  records: [],
  settled: [],
  held: [],
  waiting: [],
  deadLetters: [],
  ends: [],
  readTwice: 0,
  position: null,
  done: true,
};
