/** The transform `encode`: bytes as text. They arrive as hex digits in lower case. */
import { rejected, textOption, type Transform } from './transform.js';

const UUID = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;

/**
 * Takes bytes of any length, none included, and for `uuid` exactly 16 in the order in which they are stored: bytes that
 * were stored in another order, as by MySQL's `UUID_TO_BIN(id, 1)`, give another UUID. SQL NULL stays null.
 */
export const encode: Transform = {
  name: 'encode',
  description: 'Writes bytes as hex digits, as Base64, or as a UUID (16 bytes, in the order in which they are stored).',
  options: {
    properties: {
      as: {
        enum: ['hex', 'base64', 'uuid'],
        description: 'How the text is written; hex digits and UUIDs in lower case.',
      },
    },
    required: ['as'],
  },
  takes: ['hex'],
  gives: 'text',
  make: (options) => {
    switch (textOption(options, 'as', 'hex')) {
      case 'base64':
        return (digits) => Buffer.from(digits, 'hex').toString('base64');
      case 'uuid':
        return (digits) =>
          UUID.test(digits) ? digits.replace(UUID, '$1-$2-$3-$4-$5') : rejected('encode', 'not 16 bytes', digits);
      default:
        return (digits) => digits;
    }
  },
  examples: [
    { options: { as: 'hex' }, in: '00ff', out: '00ff' },
    { options: { as: 'base64' }, in: '00ff', out: 'AP8=' },
    {
      options: { as: 'uuid' },
      in: 'a0eebc999c0b4ef8bb6d6bb9bd380a11',
      out: 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
    },
    { options: { as: 'uuid' }, in: '00ff', rejected: 'not 16 bytes' },
  ],
};
