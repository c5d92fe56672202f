/** Upper case, the same in every locale. */
import { asciiTable } from '../byte-json.js';
import { TEXT_KINDS } from '../kinds.js';
import type { Transform } from './transform.js';

export const uppercase: Transform = {
  name: 'uppercase',
  description: 'Turns the text into upper case.',
  options: { properties: {} },
  takes: TEXT_KINDS,
  gives: 'text',
  make: () => (value) => value.toUpperCase(),
  bytes: asciiTable((text) => text.toUpperCase()),
  examples: [
    { in: 'gbp', out: 'GBP' },
    { in: 'straße', out: 'STRASSE' },
  ],
};
