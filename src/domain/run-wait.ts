/** What a run waits for, in words: in the terminal and in the Web UI. */
import type { RunWait } from './run.js';

/** `waiting for parents: 45 records of order-lines need transaction; until 14:05:10 UTC at the latest`. */
export const waitLine = ({ mapping, records, parents, until }: RunWait): string =>
  `waiting for parents: ${records} ${records === 1 ? 'record' : 'records'} of ${mapping} ${records === 1 ? 'needs' : 'need'} ` +
  `${parents.length === 0 ? 'records that are not there yet' : parents.join(', ')}; until ${until.slice(11, 19)} UTC at the latest`;
