/** What a campaign has done so far, in a file: `--resume` goes on with it, and the report is made from it. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const empty = (options) => ({
  options,
  commits: [],
  rounds: 0,
  minutes: 0,
  /** Kills by point; '' for those at moments of chance. */
  kills: {},
  /** Other faults by their names. */
  faults: {},
  progress: { takenOver: [], checkpoint: [], again: 0, idle: 0, slow: [] },
  rowsCompared: 0,
  recordsMarked: 0,
  writer: { transactions: 0, rows: 0, late: 0, failed: 0 },
  runs: {},
  violations: [],
});

/**
 * @param {string} folder where the file is
 * @param options those of the campaign; undefined: as the file says, since the campaign is resumed
 */
export function openState(folder, options) {
  const file = join(folder, 'state.json');
  if (options === undefined && !existsSync(file)) throw new Error(`nothing to resume: there is no ${file}`);
  const state = options === undefined ? JSON.parse(readFileSync(file, 'utf8')) : empty(options);
  return {
    state,
    save: () => {
      writeFileSync(`${file}.new`, JSON.stringify(state));
      renameSync(`${file}.new`, file);
    },
  };
}

export const sumOf = (counts) => Object.values(counts).reduce((sum, count) => sum + count, 0);
export const count = (counts, what) => (counts[what] = (counts[what] ?? 0) + 1);
