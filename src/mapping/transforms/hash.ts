/** The transform `hash`: a fingerprint in place of the value, for ids that must not leave the source as they are. */
import { hash as digest } from 'node:crypto';
import { TEXT_KINDS } from '../encode/value-kind.js';
import { rejected, textOption, type Transform } from './transform.js';

/**
 * Takes any value with a text form; gives hex digits, 64 for SHA-256. The empty text has a hash as well. The hash has
 * no secret key, so it hides nothing that can be guessed. As an external id it cannot be reversed: the row cannot be
 * looked up by it, which mode mirror needs. SQL NULL stays null.
 */
export const hash: Transform = {
  name: 'hash',
  description: 'Replaces the text with its hash in lower-case hex digits. Short texts can be guessed from their hash.',
  options: {
    properties: {
      algorithm: {
        enum: ['sha256', 'sha1', 'md5'],
        default: 'sha256',
        description: 'Which hash; the text is hashed as UTF-8.',
      },
    },
  },
  takes: TEXT_KINDS,
  gives: 'text',
  make: (options) => {
    const algorithm = textOption(options, 'algorithm', 'sha256');
    // Half a character has no bytes in UTF-8, so that different texts would have the same hash.
    return (value) =>
      value.isWellFormed() ? digest(algorithm, value, 'hex') : rejected('hash', 'text with a lone surrogate', value);
  },
  examples: [
    {
      in: 'anna@example.org',
      out: 'a3bf86238a1c59bd2f0a648af9293620f90d18dad133d8fe2341cf9664a5d6d0',
    },
    { options: { algorithm: 'md5' }, in: 'anna@example.org', out: '7771093713556e85d7a876c08cb5bb63' },
  ],
};
