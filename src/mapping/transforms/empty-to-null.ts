/**
 * The transform `emptyToNull`: the empty text becomes null, so the platform deletes the field rather than storing
 * nothing in it.
 */
import { TEXT_KINDS } from '../encode/value-kind.js';
import type { Transform } from './transform.js';

/**
 * Takes any value with a text form, and keeps its kind, so a transform or conversion that takes the column's type can
 * follow. Blanks are not empty; put `trim` before. SQL NULL stays null.
 */
export const emptyToNull: Transform = {
  name: 'emptyToNull',
  description: 'Turns the empty text into null. Put trim before it if blanks alone count as empty.',
  options: { properties: {} },
  takes: TEXT_KINDS,
  gives: 'same',
  make: () => (value) => (value === '' ? null : value),
  examples: [
    { in: '', out: null },
    { in: ' ', out: ' ' },
    { in: 'a', out: 'a' },
  ],
};
