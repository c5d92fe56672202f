/** Tables of a command's output. */
import { expect, it } from 'vitest';
import { table } from '../../src/cli/output/text-table.js';

it('are as long as what they show', () => {
  const rows = Array.from({ length: 300_000 }, (_, i) => [`o${i}`, i]);
  const lines = table(['order', 'total'], rows);
  expect([lines.length, lines[1], lines.at(-1)]).toEqual([300_001, 'o0              0', 'o299999   299,999']);
});
