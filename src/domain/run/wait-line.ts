/** What a run waits for, in one sentence that the terminal and the Web UI share. */
import { quantity } from '../values/quantity.js';
import type { RunWait } from './run.js';

/** `waiting for parents: 45 records of order-lines need transaction; until 14:05:10 UTC at the latest`. */
export function waitLine({ mapping, records, parents, until }: RunWait): string {
  const needed = parents.length === 0 ? 'records that do not exist yet' : parents.join(', ');
  const need = quantity(records, `record of ${mapping} needs`, `records of ${mapping} need`);
  return `waiting for parents: ${need} ${needed}; until ${until.slice(11, 19)} UTC at the latest`;
}
