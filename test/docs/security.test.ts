/** docs/reliability/security.md names for each check the tests that show it. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readPage, ROOT, sectionOf, tableIn } from './pages.js';

const page = readPage('docs/reliability/security.md');
const rows = tableIn(page.text);

it('has the eighteen checks, each with an attack, a defence and tests that are there', () => {
  expect(rows.map(([no]) => no)).toEqual(Array.from({ length: 18 }, (_, i) => String(i + 1)));
  for (const [no, attack, defence, tests] of rows) {
    expect([attack, defence], `check ${no}`).not.toContain('');
    const files = [...tests!.matchAll(/`([^`]+)`/g)].map(([, file]) => file!);
    expect(files, `check ${no}`).not.toEqual([]);
    expect(
      files.filter((file) => !file.endsWith('.test.ts') || !existsSync(join(ROOT, file))),
      `check ${no}`,
    ).toEqual([]);
  }
});

it('names every test of the folder for security', () => {
  const tests = readdirSync(join(ROOT, 'test/security')).filter((name) => name.endsWith('.test.ts'));
  expect(tests.filter((name) => !page.text.includes(`test/security/${name}`))).toEqual([]);
});

it('says what is not so', () => {
  expect(sectionOf(page, 'What is not so').split('\n- ').length).toBeGreaterThan(10);
});
