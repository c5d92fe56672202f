/** Counts the rows with differences that have a dead letter: of these, it is known why they are not on the platform. */
import type { SourceKey } from '../domain/source/source.js';
import type { Difference } from './differences.js';

/** Rows that the ledger is asked about at once. */
const ROWS_AT_ONCE = 1000;

/** Takes the differences of one mapping as they are found. */
export interface DeadLetteredRows {
  add(difference: Difference): Promise<void>;
  /** How many of the rows so far have a dead letter. */
  count(): Promise<number>;
}

/** `countAmong`: how many of these keys of the mapping's rows have a dead letter. */
export function openDeadLetteredRows(countAmong: (keys: readonly SourceKey[]) => Promise<number>): DeadLetteredRows {
  let keys: SourceKey[] = [];
  let counted = 0;
  const ask = async (): Promise<void> => {
    const asked = keys;
    keys = [];
    if (asked.length > 0) counted += await countAmong(asked);
  };
  return {
    async add({ key }) {
      if (key !== null && keys.push(key) >= ROWS_AT_ONCE) await ask();
    },
    async count() {
      await ask();
      return counted;
    },
  };
}
