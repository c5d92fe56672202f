/**
 * The record index: what the ledger knows about each record that was ever sent.
 *
 * A database row for each record would cost more than sending it (ADR 0014). So neighbours in the ledger's order
 * (../record-key.ts) share a row, their *block*: a leaf of a tree whose inner nodes are the table's primary key.
 * Nothing outside this folder knows about blocks; .dependency-cruiser.cjs lets others import only this file.
 */
export { changeRecords, type AcceptedKeys } from './change-records.js';
export { countRecords, forgetRecords } from './forget-records.js';
export { readRecords, type SameContent } from './read-records.js';
export {
  hasAtMostBlocks,
  scanForIds,
  scanRecords,
  startsOfParts,
  type IndexedRecord,
  type ScannedRecords,
} from './scan-records.js';
export type { RecordEntry } from './entry-columns.js';
