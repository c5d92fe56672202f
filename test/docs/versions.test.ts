/** docs/reliability/versions.md says what versions.json says, and nothing that the tests are to run on is left out. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { readPage, ROOT } from './pages.js';

interface Result {
  readonly name: string;
  readonly passed: number;
  readonly failed: number;
  readonly date: string;
  readonly commit: string;
}

const script = async <Exports>(name: string): Promise<Exports> =>
  (await import(/* @vite-ignore */ pathToFileURL(join(ROOT, 'scripts/versions', name)).href)) as Exports;
const { pageOf } = await script<{ pageOf: (results: readonly Result[]) => string }>('page.mjs');
const { SUBJECTS } = await script<{ SUBJECTS: readonly { readonly name: string }[] }>('subjects.mjs');
const results = JSON.parse(readFileSync(join(ROOT, 'docs/reliability/versions.json'), 'utf8')) as readonly Result[];

it('is made from the results', () => {
  expect(readPage('docs/reliability/versions.md').text).toBe(pageOf(results));
});

it('has a result of each version, from a commit on a day, where tests ran and none failed', () => {
  expect(results.map(({ name }) => name)).toEqual(SUBJECTS.map(({ name }) => name));
  const wrong = results.filter(
    ({ passed, failed, date, commit }) =>
      passed === 0 || failed > 0 || !/^\d{4}-\d\d-\d\d$/.test(date) || !/^[0-9a-f]{7,}$/.test(commit),
  );
  expect(wrong).toEqual([]);
});
