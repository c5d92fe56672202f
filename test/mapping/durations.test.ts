/** Durations have the upper bounds of their timers: a longer one is refused, since its timer would fire at once. */
import { expect, it } from 'vitest';
import { LANGUAGE_FORMATS } from '../../src/mapping/language/language-formats.js';
import { languageSchema, type LanguageFileKind } from '../../src/mapping/language/language-schema.js';
import type { JsonObject } from '../../src/domain/values/json.js';

const LONGEST_TIMER = 2 ** 31 - 1;

/** Every property of a file's schema that is a duration, with the name of its format. */
function durationsOf(kind: LanguageFileKind): [string, string | undefined][] {
  const found: [string, string | undefined][] = [];
  const walk = (at: unknown, name: string): void => {
    if (typeof at !== 'object' || at === null) return;
    const schema = at as JsonObject;
    if (schema['$ref'] === '#/definitions/duration') found.push([name, schema['format'] as string | undefined]);
    for (const [key, value] of Object.entries(schema)) walk(value, key);
  };
  walk(languageSchema(kind).root, '');
  return found;
}

const ALL = [...durationsOf('sync'), ...durationsOf('mapping')];

it('covers every duration of the language', () => {
  expect(new Set(ALL.map(([name]) => name))).toEqual(
    new Set([
      ...['statementTimeout', 'inDoubtDelay', 'batchDeadline', 'waitForPending', 'catchupWindow', 'jitter', 'every'],
      ...['overlap', 'dependencyWaitTimeout', 'success', 'waiting', 'lag'],
      ...['paused', 'retrying', 'stalled', 'wait', 'batches', 'partitions', 'removalPlans', 'runs', 'audit'],
    ]),
  );
});

it.each(ALL)('%s (%s) has an upper bound', (_name, format) => {
  expect(LANGUAGE_FORMATS[format!]?.('99999999999d')).toMatch(/^must be between .* and /);
});

it.each([
  ['statement-timeout', '1d', '2d', '0.001s'],
  ['in-doubt-delay', '10m', '11m', undefined],
  ['pending-time', '7d', '8d', undefined],
] as const)('%s may be %s, which fits a timer, and not %s', (format, longest, tooLong, tooShort) => {
  const problem = LANGUAGE_FORMATS[format]!;
  expect(problem(longest)).toBeUndefined();
  expect(problem(tooLong)).toContain(`and ${longest}`);
  if (tooShort !== undefined) expect(problem(tooShort)).toMatch(/^must be between/);
  const hours = { d: 24, m: 1 / 60 }[longest.slice(-1) as 'd' | 'm'];
  expect(Number(longest.slice(0, -1)) * hours * 3_600_000).toBeLessThan(LONGEST_TIMER);
});
