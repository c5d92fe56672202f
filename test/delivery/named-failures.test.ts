/** A platform's messages are searched for ids in any form; what is found is only a hint. */
import { expect, it } from 'vitest';
import { messageAbout, namedFailures } from '../../src/delivery/upload/named-failures.js';

const IDS = new Set(['100', 'a b', 'x-1', 'o"1', 'P.7']);

it.each([
  ['externalId "100": missing dependency customer "x-1"', ['100']],
  [`Resource '100': dependency did not arrive in time`, ['100']],
  ['`a b` is not valid', ['a b']],
  ['record x-1 was refused.', ['x-1']],
  ['refused: [x-1, 100]', ['x-1', '100']],
  ['externalId "o\\"1": too long', ['o"1']],
  ['P.7.', ['P.7']],
  ['is it x-1?!', ['x-1']],
  ['refused: "a b"', ['a b']],
  [`refused: 'a b'`, ['a b']],
  ['refused: "o\\"1"', ['o"1']],
  ['see externalId "100" and x-1', ['100', 'x-1']],
  ['externalId "unknown": missing dependency customer "x-1"', ['x-1']],
])('finds the records named in: %s', (message, ids) => {
  expect([...namedFailures([message], IDS).byId.keys()].toSorted()).toEqual([...ids].toSorted());
});

it.each(['1000 records failed', 'something went wrong', '', 'externalId "broken', 'X'.repeat(100_000)])(
  'finds no record in: %.40s',
  (message) => {
    expect(namedFailures([message], IDS)).toEqual({ byId: new Map(), nameless: [message], all: [message] });
  },
);

it('keeps the beginning of a long message, and no part of a word', () => {
  const failures = namedFailures([`must not be ${'v'.repeat(300)} ${'w'.repeat(300)}`], IDS);
  expect(messageAbout('100', failures)).toBe(`must not be ${'v'.repeat(300)} `);
});

it('tells the messages of the others about a record if all of them name some, each once', () => {
  const failures = namedFailures(['`100` and `x-1` are wrong', '`x-1` is late', '`x-1` is late'], IDS);
  expect(messageAbout('P.7', failures)).toBe('`100` and `x-1` are wrong; or `x-1` is late');
});

it('tells of a record what names it, and of any other what names no record', () => {
  const failures = namedFailures(['`100` is wrong', '`100` is late', 'something is broken'], IDS);
  expect(messageAbout('100', failures)).toBe('`100` is wrong; or `100` is late');
  expect(messageAbout('P.7', failures)).toBe('something is broken');
});

it('tells five messages of a record at most', () => {
  const messages = [1, 2, 3, 4, 5, 6].map((no) => `\`100\` is wrong in way ${no}`);
  expect(messageAbout('100', namedFailures(messages, IDS))).toBe(messages.slice(0, 5).join('; or '));
});
