/**
 * Waiting entries: the row that a record has in the table `waiting` as long as it has no final outcome. An entry is a
 * small state machine, and every statement that changes a state is in this folder.
 *
 * | State               | Columns                 | The record                                                        |
 * | ------------------- | ----------------------- | ----------------------------------------------------------------- |
 * | none                | no entry                | has its outcome, or was never sent                                |
 * | queued              | `batch_id` is NULL      | is in no batch: once it is due, its row is read and sent again    |
 * | pending             | `batch_id`              | is kept by the platform until its parents arrive                  |
 * | pending, read again | `batch_id`,`read_again` | the same; since its row may have changed, it is queued afterwards |
 *
 * A worker may have died after it had sent a batch, and before it heard of it. Its records are pending in a batch without the
 * platform's id: in doubt.
 *
 * What happens, and the state that follows (`=`: the state stays; `-`: does not happen):
 *
 * | What happens                                   | Function                 | none    | queued      | pending     | pending, read again |
 * | ---------------------------------------------- | ------------------------ | ------- | ----------- | ----------- | ------------------- |
 * | a checkpoint has the record contended          | `writeWaitingEntries`    | queued  | queued      | read again  | =                   |
 * | a checkpoint has it wait for another reason    | `writeWaitingEntries`    | queued  | queued      | queued      | queued              |
 * | a checkpoint has it pending in a batch         | `writeWaitingEntries`    | pending | pending (1) | pending (2) | read again (2)      |
 * | a recovered batch has it pending               | `writeRecoveredPending`  | pending | read again  | read again  | =                   |
 * | a claim has read its row with other content    | `recordReadingOfPending` | -       | -           | read again  | =                   |
 * | a later reading of its row has a final outcome | `applyOutcomes`          | -       | none        | = (3)       | = (3)               |
 * | an earlier reading of its row has one          | `applyOutcomes`          | -       | =           | =           | =                   |
 * | a reading ahead of its turn has it accepted    | `endDoubts`              | -       | =           | = (4)       | = (4)               |
 * | a poll of its batch has its final outcome      | `applyOutcomes`          | -       | -           | none        | queued, contended   |
 * | a poll of an earlier batch has it              | `applyOutcomes`          | -       | =           | =           | =                   |
 *
 * (1) `pending, read again` if the queued entry may be of a newer reading. (2) In the new batch. (3) It is counted by the
 * row's outcome instead of as waiting, but claims must see that it is still in a batch. If it was in doubt, there is no entry
 * afterwards: what was sent since, with the same content, has decided. (4) If it was in doubt with the same content, there is no
 * entry afterwards, or a queued one if its row was read.
 *
 * Beside these, `Waiting` changes when an entry is due and why it waits, which are no states, and `forget` deletes.
 *
 * An entry also tells which counts have the record as waiting: those of `partition_id`, if `counted`. A counted read that finds
 * it waiting moves it into the counts of its own partition.
 *
 * .dependency-cruiser.cjs lets others import only this file.
 */
export { applyOutcomes, type AppliedOutcome, type IdentifiedRow } from './apply-outcomes.js';
export { lockWaitingEntries } from './lock-entries.js';
export {
  endDoubts,
  pendingAmong,
  recordReadingOfPending,
  writeRecoveredPending,
  type RecoveredBatch,
  type RowReading,
} from './pending-entries.js';
export {
  openWaiting,
  type LackingParents,
  type QueuedRow,
  type Waiting,
  type WaitingParent,
  type WaitingRow,
} from './waiting.js';
export {
  isRowKnown,
  NO_ROW_READ,
  postponed,
  queuedWithoutParents,
  type PendingReason,
  type PendingRecord,
  type QueuedReason,
  type QueuedRecord,
  type WaitingRecord,
} from './waiting-record.js';
export { writeWaitingEntries } from './write-entries.js';
