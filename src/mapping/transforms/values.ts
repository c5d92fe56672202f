/** The transform `values`: the source's codes become the platform's words. */
import type { JsonValue } from '../../domain/values/json.js';
import { TEXT_KINDS } from '../encode/value-kind.js';
import { rejected, SCALAR, scalarText, type Transform } from './transform.js';

/**
 * Takes any value with a text form; gives text. Spelling counts. A value that is not listed, the empty text included,
 * is rejected unless `otherwise` says something else: a new code of the source should be noticed. SQL NULL stays null.
 */
export const values: Transform = {
  name: 'values',
  description: 'Replaces each listed value with another.',
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
    // A Map, so that a value named `constructor` does not find a property of objects.
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
