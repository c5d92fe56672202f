/** Files that are made to harm: `check` reports them like any mistake, at once, and prints nothing that a terminal obeys. */
import { expect, it } from 'vitest';
import { HOSTILE_FILES } from './corpus/hostile-files.js';
import { findingsOf } from './sync-on-disk.js';

it.each(HOSTILE_FILES)('%s', async (_, name, content, begins) => {
  const found = await findingsOf({ [name]: content });

  expect(found.map((line) => line.slice(0, begins.length))).toContain(begins);
  for (const line of found) {
    expect(line).not.toMatch(/\p{Cc}|hunter2|\n {4}at /u);
    expect(line.length).toBeLessThan(600);
  }
  expect(Object.prototype).not.toHaveProperty('a');
});
