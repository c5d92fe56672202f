/** Patterns of schema definitions are matched against arbitrary rows. */
import { describe, expect, it } from 'vitest';
import { mapper } from './sync-on-disk.js';

describe('a mapping whose schema definition has patterns', () => {
  it.each(['^(?:x|y|xy){1,99}!$', '^(a?a?a?a?){1,25}$', '^a*a*a*a*a*a*a*b$', '^(?=.*\\d)(?=(a|aa)+$).*$'])(
    'continues after a row for which %s would take forever',
    async (pattern) => {
      const { map } = await mapper('  a: a\n', { a: { type: 'string', pattern } }, { a: 'text' });
      for (const part of ['xy', 'a'])
        expect(map({ a: `${part.repeat(400)}?` })).toMatchObject({ kind: 'failed', rule: `pattern: ${pattern}` });
    },
  );

  it('checks each field by its own pattern', async () => {
    const properties = { a: { type: 'string', pattern: '(x|y)+$' }, b: { type: 'string', pattern: '(0|1)+$' } };
    const { map } = await mapper('  a: a\n  b: b\n', properties, { a: 'text', b: 'text' });
    expect(map({ a: 'xy', b: '01' })).toMatchObject({ kind: 'record' });
    expect(map({ a: 'xy', b: 'xy' })).toMatchObject({ kind: 'failed', pointer: '/b' });
    // The same where the record is looked at as a whole.
    const whole = { ...properties, a: { ...properties.a, $id: 'a' } };
    const { map: wholly } = await mapper('  a: a\n  b: b\n', whole, { a: 'text', b: 'text' });
    expect(wholly({ a: 'xy', b: 'xy' })).toMatchObject({ kind: 'failed', pointer: '/b' });
  });
});
