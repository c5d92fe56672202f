/** Patterns that blow up are known before a row meets them. */
import { describe, expect, it } from 'vitest';
import { patternCost } from '../../src/mapping/pattern-cost.js';
import { definition, findingsOf, mapper } from './sync-on-disk.js';

describe('the cost of a pattern', () => {
  it.each([
    [
      'linear',
      ['^[A-Z]{3}$', '^\\+[1-9][0-9]{6,14}$', '^[^\\s]+$', 'abc', '^a?b?c?$', '^(GB|US)$', '^[*+]$', '^a\\+b$'],
    ],
    ['square', ['a+', '^\\s*\\S+\\s*$', '^[^@]+@[^@]+$', '^(a|b)*c*$', '.*', '^(?:ab?)*x+$']],
    [
      'unbounded',
      ['(a+)+$', '^(\\w*\\s?)*$', '(a|a)*', '(a|ab)*c', '^([a-z]|[0-9])+$', '((a{1,}))*', '(a*){2,}', '(x+x+)+y'],
    ],
  ] as const)('is %s', (cost, patterns) => {
    for (const pattern of patterns) expect([pattern, patternCost(pattern)]).toEqual([pattern, cost]);
  });

  it('is told by check, with the place of the pattern', async () => {
    const name = { type: 'string', pattern: '^(a+)+$' };
    const findings = await findingsOf({ 'person.schema.json': definition('person', { personId: {}, name }) });
    expect(findings).toEqual([
      expect.stringMatching(/^person\.schema\.json:11:\d+ error slow_pattern schema\.properties\.name\.pattern: /),
    ]);
  });

  it('bounds the texts that are tried where it is the square of their length', async () => {
    const { map } = await mapper('  a: a\n', { a: { type: 'string', pattern: 'x|\\s+$' } }, { a: 'text' });
    expect(map({ a: 'x'.repeat(10_000) })).toMatchObject({ kind: 'record' });
    // Without the bound this takes a quarter of an hour.
    expect(map({ a: `${' '.repeat(1_000_000)}.` })).toMatchObject({ kind: 'unmappable', rule: 'pattern: x|\\s+$' });
  });
});
