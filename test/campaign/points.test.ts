/** The points at which campaigns kill workers are in the code, each exactly once. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

interface Points {
  readonly POINTS: Readonly<Record<string, { readonly file: string; readonly before: string }>>;
  readonly withPoints: (file: string, text: string) => string;
}

const { POINTS, withPoints } = (await import(
  new URL('../../scripts/campaign/points.mjs', import.meta.url).href
)) as Points;

const textOf = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

it.each(Object.entries(POINTS))('comes to the point "%s" before the code that it names', (name, { file, before }) => {
  const text = withPoints(file, textOf(file)).replace(/\s+/g, ' ');

  const call = `globalThis.campaignPoint(${JSON.stringify(name)}`;
  expect(text.split(call)).toHaveLength(2);
  expect(text.split(call)[1]!.replace(/^[^;]*; (globalThis.campaignPoint\([^;]*; )*/, '')).toMatch(
    new RegExp(`^${before.replace(/\s+/g, ' ').replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`),
  );
});

it('refuses a file in which the code of a point has changed', () => {
  const { file, before } = POINTS['checkpoint begun']!;

  expect(() => withPoints(file, textOf(file).replace(before, 'await closeAll('))).toThrow(
    'has the text of the point "checkpoint begun" 0 times',
  );
});
