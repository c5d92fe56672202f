/** What `init` asks about text columns whose values look like dates and times: how they are to be read. */
import { expect, it } from 'vitest';
import { timesComment } from '../../src/init/guess-times.js';

const commentOn = (...values: string[]): string | null =>
  timesComment(values, { name: 'Europe/London', why: "is the server's, and a guess" });

it.each([
  [
    'points in time that name their zone',
    ['2010-12-01T08:26:00Z', '2010-12-01 08:26:00.5+02:00'],
    /transforms: \[instant\]/,
  ],
  ['times without a zone', ['2010-12-01 08:26:00', '2010-12-01T08:26'], /dateTime: \{ zone: Europe\/London \}/],
  ['dates and times without a zone', ['2010-12-01', '2010-12-01 08:26:00'], /dateTime: \{ zone: Europe\/London \}/],
  ['dates', ['2010-12-01', '2024-02-29'], /look like dates.*the format date/],
  ['dates in another form', ['01/12/2010', '1/2/2011'], /no transform reads/],
  ['times in another form', ['1.12.2010, 8:26', '12/1/2010 8:26:00 AM'], /no transform reads/],
  ['times of which some name a zone', ['2010-12-01 08:26:00', '2010-12-01 08:26:00Z'], /no transform reads/],
])('asks how to read %s', (_case, values, question) => {
  expect(commentOn(...values)).toMatch(/^DECIDE: /);
  expect(commentOn(...values)).toMatch(question);
});

it('says how blank texts among them become NULL', () => {
  expect(commentOn('2010-12-01T08:26:00Z', ' ', '')).toContain('transforms: [trim, emptyToNull, instant]');
});

it.each([
  ['there are no values', []],
  ['all values are blank', ['', ' ']],
  ['some values are words', ['2010-12-01', 'soon']],
  ['they are numbers of a person, a version or a telephone', ['555-12-3456', '1.2.3', '020-79-4600']],
  ['they are sentences with a date', ['since 2010-12-01']],
])('asks nothing if %s', (_case, values) => {
  expect(commentOn(...values)).toBeNull();
});
