/** Lower case, the same in every locale. */
import { asciiTable } from '../byte-json.js';
import { TEXT_KINDS } from '../kinds.js';
import type { Transform } from './transform.js';

export const lowercase: Transform = {
  name: 'lowercase',
  description: 'Turns the text into lower case.',
  options: { properties: {} },
  takes: TEXT_KINDS,
  gives: 'text',
  make: () => (value) => value.toLowerCase(),
  bytes: asciiTable((text) => text.toLowerCase()),
  examples: [
    { in: 'Anna@Example.ORG', out: 'anna@example.org' },
    { in: 'ÉCOLE', out: 'école' },
  ],
};
