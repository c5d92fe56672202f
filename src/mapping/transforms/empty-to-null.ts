/** Empty text as null: on the platform the field is then deleted rather than set to nothing. */
import { TEXT_KINDS } from '../kinds.js';
import type { Transform } from './transform.js';

export const emptyToNull: Transform = {
  name: 'emptyToNull',
  description: 'Turns the empty text into null. Put trim before it when blanks alone count as empty.',
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
