/** Runs with each test file: notes in `MUTATION_NOTES`, once, which statements the file sends, and how long it takes. */
import { createHash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect } from 'vitest';

type Query = (this: unknown, config: unknown, ...rest: unknown[]) => unknown;

const NOTED = Symbol.for('partner-sync.noted-sql');
const all = globalThis as { [NOTED]?: Set<string> };

if (all[NOTED] === undefined) {
  const client = pg.Client.prototype as unknown as { query: Query };
  const { query } = client;
  client.query = function (config, ...rest) {
    const text = typeof config === 'string' ? config : (config as { text?: string } | null)?.text;
    if (text !== undefined) all[NOTED]?.add(text);
    return query.call(this, config, ...rest);
  };
}

let began = 0;
beforeAll(() => {
  all[NOTED] = new Set();
  began = performance.now();
});
afterAll(() => {
  const file = expect.getState().testPath!;
  const note = join(process.env['MUTATION_NOTES']!, createHash('sha256').update(file).digest('hex'));
  // With a mutant, a file may end early.
  if (existsSync(note)) return;
  writeFileSync(note, JSON.stringify({ file, took: performance.now() - began, statements: [...all[NOTED]!] }));
});
