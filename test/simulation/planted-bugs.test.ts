/** The bugs that the simulation must find can be planted in the code as it is. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

interface Bugs {
  readonly PLANTED_BUGS: Readonly<Record<string, readonly [file: string, text: string, instead: string]>>;
}
const scripts: string = new URL('../../scripts/simulation/planted-bugs.mjs', import.meta.url).href;
const { PLANTED_BUGS } = (await import(scripts)) as Bugs;

it.each(Object.entries(PLANTED_BUGS))('finds the place for the bug "%s" once', (_, [file, text]) => {
  const code = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  expect(code.split(text)).toHaveLength(2);
});
