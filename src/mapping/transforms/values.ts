/** The source's codes to the platform's words. */
import type { JsonValue } from '../../domain/json.js';
import { TEXT_KINDS } from '../kinds.js';
import { rejected, SCALAR, scalarText } from './transform.js';
import type { Transform } from './transform.js';

export const values: Transform = {
  name: 'values',
  description: 'Replaces each listed value by another.',
  options: {
    properties: {
      map: {
        type: 'object',
        additionalProperties: SCALAR,
        minProperties: 1,
        description: "The source's value, and what to send for it.",
        examples: [{ A: 'active', P: 'paused' }],
      },
      otherwise: {
        enum: ['reject', 'null', 'keep'],
        default: 'reject',
        description: 'A value that is not listed: reject the row (default), send null, or keep the value.',
      },
    },
    required: ['map'],
  },
  takes: TEXT_KINDS,
  gives: 'text',
  make: (options) => {
    // A Map, so that a value named `constructor` finds nothing it should not.
    const known = new Map(
      Object.entries((options['map'] ?? {}) as Record<string, JsonValue>).map(([from, to]) => [from, scalarText(to)]),
    );
    const otherwise = options['otherwise'] ?? 'reject';
    return (value) => {
      const found = known.get(value);
      if (found !== undefined) return found;
      if (otherwise === 'keep') return value;
      return otherwise === 'null' ? null : rejected('values', 'not one of the listed values', value);
    };
  },
  examples: [
    { options: { map: { A: 'active', P: 'paused' } }, in: 'A', out: 'active' },
    { options: { map: { A: 'active' } }, in: 'X', rejected: 'not one of the listed values' },
    { options: { map: { A: 'active' }, otherwise: 'null' }, in: 'X', out: null },
    { options: { map: { A: 'active' }, otherwise: 'keep' }, in: 'X', out: 'X' },
    { options: { map: { A: 'active' } }, in: 'constructor', rejected: 'not one of the listed values' },
  ],
};
