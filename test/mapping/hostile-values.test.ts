/** A row with a hostile value is sent as it is or becomes a dead letter without the value; nothing else happens. */
import { expect, it } from 'vitest';
import { HOSTILE_VALUES } from './corpus/hostile-values.js';
import { mapper } from './sync-on-disk.js';

const TYPES = {
  id: 'text',
  text: 'text',
  time: 'timestamptz',
  day: 'date',
  whole: 'integer',
  number: 'float',
  truth: 'boolean',
  json: 'json',
} as const;
const PROPERTIES = {
  text: { type: 'string' },
  time: { type: 'string', format: 'date-time' },
  day: { type: 'string', format: 'date' },
  whole: { type: ['integer', 'null'] },
  number: { type: 'number' },
  truth: { type: 'boolean' },
  json: {},
};
const FIELDS = Object.keys(PROPERTIES).map((name) => `  ${name}: ${name}\n`);

it.each(HOSTILE_VALUES.map(([column, value, end]) => ({ column, value, end, title: value.slice(0, 40) })))(
  '$column $title',
  async ({ column, value, end }) => {
    const { map } = await mapper(FIELDS.join(''), PROPERTIES, TYPES);

    const row = map({ [column]: value });

    expect(row.kind === 'record' ? 'sent' : row.rule).toBe(end);
    if (row.kind === 'record') {
      const field = column === 'id' ? row.externalId : row.data[column];
      expect(column === 'json' ? JSON.stringify(field) : field).toBe(value);
    } else {
      expect(row.pointer).toBe(`/${column}`);
      // Short ones, such as NaN, are words of the rules themselves.
      if (value.length > 10) expect(row.reason + row.shape).not.toContain(value.slice(0, 10));
      expect(row.reason.length + row.shape.length).toBeLessThan(150);
    }
    expect(Object.prototype).not.toHaveProperty('polluted');
  },
);
