/**
 * Finds rows that map to the same external id but are not read in one chunk (ADR 0022). They are suspected when a run
 * reads a record a second time with other content, and looked up in the source, since the row may only have changed.
 */
import type { FailedRow, MappedRecord, MapResult } from '../../domain/records/record.js';
import type { RecordList } from '../../records/record-list.js';
import type { OpenMapping, OpenSync } from '../dependencies.js';
import { findRowsIfPossible } from '../../reading/find-rows.js';
import { duplicateRecord } from './new-dead-letters.js';
import type { PartitionContext } from '../partition-context.js';
import { LOOK_UP_ROWS } from '../../reading/read-rows-by-values.js';

/** By the index of each record whose external id other rows have too: dead letters of all these rows, its own first. */
export type DuplicateIds = ReadonlyMap<number, readonly FailedRow[]>;

/** Finds the records whose external id another row of the source has now. */
export async function duplicatesAmong(
  { sync, mapping }: Pick<PartitionContext, 'sync' | 'mapping'>,
  records: RecordList,
): Promise<DuplicateIds> {
  const duplicates = new Map<number, FailedRow[]>();
  for (let i = 0; i < records.length; i += LOOK_UP_ROWS) {
    const some = records.slice(i, i + LOOK_UP_ROWS);
    const rows = await recordsWithIds(sync, mapping, some.externalIds);
    for (const [index, record] of [...some].entries()) {
      // The row of a removal may have come back since: the next reading of that row delivers it.
      if (record.deletion !== undefined) continue;
      const own = JSON.stringify(record.sourceKey);
      const others = rows.filter(
        (r) => isSameRecord(r, record) && r.deletion === undefined && JSON.stringify(r.sourceKey) !== own,
      );
      if (others.length > 0) duplicates.set(i + index, [record, ...others].map(duplicateRecord));
    }
  }
  return duplicates;
}

/**
 * Of records that would be marked as deleted, the indexes of those that another row gives which is not marked as deleted, or their own row
 * by now: a later reading of that row delivers it. Where rows cannot be looked up, none.
 */
export async function supersededAmong(
  { sync, mapping }: Pick<PartitionContext, 'sync' | 'mapping'>,
  records: RecordList,
): Promise<ReadonlySet<number>> {
  const superseded = new Set<number>();
  for (let i = 0; i < records.length; i += LOOK_UP_ROWS) {
    const some = records.slice(i, i + LOOK_UP_ROWS);
    const rows = (await findRowsIfPossible(sync, mapping, some.externalIds)) ?? [];
    const live = rows.filter((row) => row.kind === 'failed' || row.deletion === undefined);
    for (const [index, record] of [...some].entries())
      if (live.some((row) => isSameRecord(row, record))) superseded.add(i + index);
  }
  return superseded;
}

const isSameRecord = (a: MapResult, b: MapResult): boolean => a.tenant === b.tenant && a.externalId === b.externalId;

/** Where they cannot be found, duplicates go unnoticed and the records are sent. */
const recordsWithIds = async (sync: OpenSync, mapping: OpenMapping, ids: readonly string[]): Promise<MappedRecord[]> =>
  (await findRowsIfPossible(sync, mapping, ids))?.filter((r) => r.kind === 'record') ?? [];

/** Notes which external ids the rows of a chunk share, for the chunks after it. */
export function noteDuplicates({ earlierChunks }: PartitionContext, failedRows: Iterable<FailedRow>): void {
  for (const { code, externalId } of failedRows)
    if (code === 'duplicate_external_id' && externalId !== null) earlierChunks.duplicateIds.add(externalId);
}

/** Finds duplicates that an earlier chunk or run has noted and that still exist: none of their rows is sent. */
export async function knownDuplicates(context: PartitionContext, records: RecordList): Promise<DuplicateIds> {
  const { deps, mapping, earlierChunks } = context;
  const { deadLetters } = deps.ledger;
  const inLedger = earlierChunks.noDuplicatesInLedger
    ? null
    : await deadLetters.duplicateIds(mapping.mappingId, records.externalIds);
  earlierChunks.noDuplicatesInLedger = inLedger === null;
  if ((inLedger === null || inLedger.size === 0) && earlierChunks.duplicateIds.size === 0) return new Map();
  const isSuspect = (id: string): boolean => inLedger?.has(id) === true || earlierChunks.duplicateIds.has(id);
  const suspects = [...records.externalIds.keys()].filter((index) => isSuspect(records.at(index).externalId));
  const duplicates = await duplicatesAmong(context, records.only(suspects));
  return new Map([...duplicates].map(([index, rows]) => [suspects[index]!, rows]));
}
