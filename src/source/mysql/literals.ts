/**
 * Writes bounds as literals of their column's type. A bound text would be compared with a number as doubles, where
 * neighbours beyond 2^53 are equal.
 */
import { Temporal } from 'temporal-polyfill';
import { PartnerSyncError } from '../../domain/errors.js';
import { hexDigitsOf } from '../hex-digits.js';
import type { ColumnType } from '../dialect.js';

const NUMBER = /^-?\d+(\.\d+)?$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)?$/;
const INSTANT = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d(?::?\d\d)?)$/;
const IN_UTC = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?\+00$/;
const TIME = /^-?\d{1,3}:\d\d(:\d\d(\.\d{1,6})?)?$/;

/** The literal for a text that the database wrote or a person typed. Throws `config_invalid` for any other. */
export function literal({ type, databaseType }: ColumnType, text: string): string {
  switch (type) {
    case 'integer':
    case 'decimal':
      if (NUMBER.test(text)) return text;
      break;
    case 'float': {
      const number = databaseType.startsWith('float') ? Math.fround(Number(text)) : Number(text);
      if (text.trim() !== '' && Number.isFinite(number))
        return /e/.test(String(number)) ? String(number) : `${number}e0`;
      break;
    }
    case 'boolean':
      // A word where an external id gave the value.
      if (['t', 'true', '1'].includes(text)) return '1';
      if (['f', 'false', '0'].includes(text)) return '0';
      break;
    case 'bytes': {
      const digits = hexDigitsOf(text);
      if (digits !== undefined) return `X'${digits}'`;
      break;
    }
    case 'timestamptz':
      // The form of the session itself, which a zero date has too: that one could not be converted as an instant.
      if (IN_UTC.test(text)) return `'${text.slice(0, -'+00'.length)}'`;
      if (INSTANT.test(text)) return `'${inUtc(text)}'`;
      if (TIMESTAMP.test(text)) return `'${text}'`;
      break;
    case 'timestamp':
    case 'date':
      if (TIMESTAMP.test(text)) return `'${text}'`;
      break;
    case 'time':
      if (TIME.test(text)) return `'${text}'`;
      break;
    default:
      return textLiteral(text);
  }
  throw new PartnerSyncError('config_invalid', `source: a bound is not a valid value of a ${databaseType} column`, {
    unfitValue: true,
  });
}

/** A text as hexadecimal digits, so that no character can end the literal, whatever the server's SQL mode. */
export const textLiteral = (text: string): string => `_utf8mb4 X'${Buffer.from(text, 'utf8').toString('hex')}'`;

function inUtc(text: string): string {
  const offset = text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00');
  return Temporal.Instant.from(offset).toString().replace('T', ' ').replace('Z', '');
}
