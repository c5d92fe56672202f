/** The page about mutation testing says what was measured: it is made of the record beside it, and no survivor lacks a reason. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readPage, ROOT } from './pages.js';

interface Tried {
  readonly mutants: number;
  readonly survivors: readonly { readonly code: string; readonly reason: string }[];
}
type Recorded = Readonly<Record<string, Tried>>;

const script = (name: string): string => new URL(`../../scripts/mutation/${name}.mjs`, import.meta.url).href;
interface Target {
  readonly files: readonly string[];
  readonly sql?: boolean;
}
const { mutationPage, nameOf, readRecord } = (await import(script('record'))) as {
  readonly nameOf: (file: string, target: Target) => string;
  readonly mutationPage: (record: Recorded) => string;
  readonly readRecord: (root: string) => Recorded;
};
const { TARGETS } = (await import(script('targets'))) as { TARGETS: readonly Target[] };
const record = readRecord(ROOT);

it('is the page that the record gives', () => {
  expect(Object.keys(record).length).toBeGreaterThan(0);
  expect(readPage('docs/reliability/mutation.md').text).toBe(mutationPage(record));
});

it('is about files that are tried, and that exist', () => {
  const names = TARGETS.flatMap((target) => target.files.map((file) => nameOf(file, target)));
  expect(Object.keys(record).filter((name) => !names.includes(name))).toEqual([]);
  const files = TARGETS.flatMap((target) => target.files);
  expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

it.each(Object.entries(record))(
  'gives a reason for each mutant that survives in %s',
  (_file, { mutants, survivors }) => {
    expect(mutants).toBeGreaterThan(survivors.length);
    expect(survivors.filter(({ reason }) => reason === '')).toEqual([]);
  },
);

it.each(Object.entries(record))('quotes from %s only code that stands there', (name, { survivors }) => {
  const code = readFileSync(join(ROOT, name.replace('SQL of ', '')), 'utf8').replaceAll(/\s+/g, ' ');
  expect(survivors.filter((survivor) => !code.includes(survivor.code))).toEqual([]);
});
