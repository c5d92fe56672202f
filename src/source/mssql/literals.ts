/**
 * Writes bounds as expressions of their column's own type. Otherwise type precedence decides which side is converted,
 * and a datetime compared as datetime2 does not equal itself.
 */
import { Temporal } from 'temporal-polyfill';
import { PartnerSyncError } from '../../domain/errors.js';
import { isUuid } from '../../domain/values/names.js';
import { hexDigitsOf } from '../hex-digits.js';
import type { ColumnType } from '../dialect.js';

const WHOLE = /^-?\d+$/;
const NUMBER = /^-?\d+(\.\d+)?$/;
const DAY = /^\d{4}-\d\d-\d\d$/;
const TIMESTAMP = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d(?:\.\d{1,7})?)?))?$/;
const INSTANT = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d(?::?\d\d)?)$/;
const TIME = /^\d\d:\d\d(:\d\d(\.\d{1,7})?)?$/;
/** The most digits that a decimal has. */
const DIGITS = 38;

const RANGES: Readonly<Record<string, readonly [least: bigint, most: bigint]>> = {
  tinyint: [0n, 255n],
  smallint: [-(2n ** 15n), 2n ** 15n - 1n],
  int: [-(2n ** 31n), 2n ** 31n - 1n],
  bigint: [-(2n ** 63n), 2n ** 63n - 1n],
};

/** The expression for a text that the database wrote or a person typed. Throws `config_invalid` for any other. */
export function literal(column: ColumnType, given: string): string {
  const expression = expressionOf(column, given);
  if (expression !== undefined) return expression;
  throw new PartnerSyncError(
    'config_invalid',
    `source: a bound is not a valid value of a ${column.databaseType} column`,
    {
      unfitValue: true,
    },
  );
}

function expressionOf({ type, databaseType }: ColumnType, given: string): string | undefined {
  const as = (value: string): string => `CAST(${value} AS ${databaseType})`;
  switch (type) {
    case 'integer': {
      const [least, most] = RANGES[databaseType] ?? RANGES['bigint']!;
      if (!WHOLE.test(given) || BigInt(given) < least || BigInt(given) > most) return undefined;
      return as(`'${given}'`);
    }
    case 'decimal':
      // Without a cast, which would round a value with more digits than the column has to one that is equal.
      return NUMBER.test(given) && given.replace(/\D/g, '').length <= DIGITS ? given : undefined;
    case 'float':
      return given.trim() !== '' && Number.isFinite(Number(given))
        ? as(`${Number(given)}${/e/.test(String(Number(given))) ? '' : 'e0'}`)
        : undefined;
    case 'boolean':
      // A word where an external id gave the value.
      if (['t', 'true', '1'].includes(given)) return as('1');
      return ['f', 'false', '0'].includes(given) ? as('0') : undefined;
    case 'bytes': {
      const digits = hexDigitsOf(given);
      return digits === undefined ? undefined : `0x${digits}`;
    }
    case 'uuid':
      return isUuid(given) ? as(`'${given}'`) : undefined;
    case 'date':
      return TIMESTAMP.test(given) ? as(`'${given.slice(0, 10)}'`) : undefined;
    case 'time':
      return TIME.test(given) ? as(`'${given}'`) : undefined;
    case 'timestamp':
      return timestamp(databaseType, given);
    case 'timestamptz':
      return DAY.test(given)
        ? as(`'${given}T00:00:00+00:00'`)
        : INSTANT.test(given)
          ? as(`'${instantText(given)}'`)
          : undefined;
    default:
      return textLiteral(given);
  }
}

/** With a T: in this form no language setting of the server swaps day and month. */
function timestamp(databaseType: string, given: string): string | undefined {
  const parts = TIMESTAMP.exec(given);
  if (parts === null) return undefined;
  const [, day, clock = '00:00:00'] = parts;
  const seconds = clock.length === 5 ? `${clock}:00` : clock;
  // These two accept three digits at most, and round to their own precision.
  const cut = databaseType === 'datetime' || databaseType === 'smalldatetime' ? seconds.slice(0, 12) : seconds;
  return `CAST('${day}T${cut}' AS ${databaseType})`;
}

/** A text as UTF-16 bytes, so that no character can end the literal, whatever the server's settings. */
export const textLiteral = (text: string): string =>
  `CAST(0x${Buffer.from(text, 'utf16le').toString('hex')} AS nvarchar(${text.length > 4000 ? 'max' : 4000}))`;

function instantText(given: string): string {
  const iso = given.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00');
  const utc = Temporal.Instant.from(iso).toString({ fractionalSecondDigits: 7, roundingMode: 'trunc' });
  return utc.replace('Z', '+00:00');
}
