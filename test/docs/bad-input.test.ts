/** How much bad input the tests try, corpus by corpus: none of them may shrink unnoticed. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { VARIABLE_VALUES } from '../cli/corpus/variables.js';
import { HOSTILE_FILES } from '../mapping/corpus/hostile-files.js';
import { HOSTILE_VALUES } from '../mapping/corpus/hostile-values.js';
import * as responses from '../platform/corpus/bad-responses.js';
import { INPUTS } from '../workflows/corpus/inputs.js';

/** The cases of a corpus in YAML, below test/. */
const inYaml = (path: string): unknown[] =>
  parse(readFileSync(new URL(`../${path}.yaml`, import.meta.url), 'utf8')) as unknown[];

/** The cases of several corpora, each with the name of its own. */
const byName = (corpora: Readonly<Record<string, object>>): [string, string][] =>
  Object.entries(corpora).flatMap(([name, corpus]) =>
    (Array.isArray(corpus) ? corpus : Object.keys(corpus)).map((one): [string, string] => [name, String(one)]),
  );

it.each([
  ['mistakes in files', ['sync', 'mapping', 'definition'].flatMap((name) => inYaml(`mapping/corpus/${name}`)), 206],
  ['hostile files', HOSTILE_FILES, 85],
  ['hostile values of rows', HOSTILE_VALUES, 69],
  ['command lines', inYaml('cli/corpus/command-lines'), 196],
  ['environment variables', byName(VARIABLE_VALUES), 207],
  ['responses of the platform', byName(responses), 185],
  ['inputs of workflows', INPUTS, 116],
])('%s', (_, cases, least) => {
  // One that is there twice counts once.
  expect(new Set(cases.map((one) => JSON.stringify(one))).size).toBeGreaterThanOrEqual(least);
});
