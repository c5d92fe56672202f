/** Infers from sample values how to send a column whose type does not determine it. */
import type { CatalogColumn } from '../domain/source/source-catalog.js';
import { isRounded } from '../mapping/encode/exact-number.js';
import { WITH_ZONE } from './guess-times.js';
import { declaredBytes } from './sample.js';

/** Whether some value cannot be represented exactly as a JSON number. */
export const passesNumbers = ({ type }: CatalogColumn, values: readonly string[]): boolean =>
  (type === 'integer' || type === 'decimal') && values.some(isRounded);

const UUID_BYTES = 16;
/** Values with more bytes than an id or a hash are taken for files. */
const FEW_BYTES = 64;

/**
 * How to write bytes: 16 of them are nearly always a UUID. `files` means that they are too long to be sent without a
 * decision.
 */
export function bytesForm({ databaseType }: CatalogColumn, values: readonly string[]): 'uuid' | 'hex' | 'files' {
  const declared = declaredBytes(databaseType);
  const lengths = declared === null ? values.map((value) => (value.length - '\\x'.length) / 2) : [declared];
  if (lengths.length === 0 || Math.max(...lengths) > FEW_BYTES) return 'files';
  const fixed = declared === null || /^binary/i.test(databaseType);
  return fixed && lengths.every((length) => length === UUID_BYTES) ? 'uuid' : 'hex';
}

const COUNT = /^\d+(\.\d+)?$/;
/** Names of numbers that suggest a point in time. */
const WHEN = /((^|_)(at|on|ts|time|date|datetime|timestamp)|[a-z](At|On|Ts|Time|Date|Timestamp))$/;
/** Seconds of the years 1990 to 2099. Counted in milliseconds, those years give numbers outside this range. */
const [EARLIEST, LATEST] = [631_152_000, 4_102_444_800];

/** How points in time are stored in a database without a type for them; null if the values are something else. */
export function instantForm(
  { name, type }: CatalogColumn,
  values: readonly string[],
): 'text' | 'seconds' | 'milliseconds' | null {
  if (values.length === 0) return null;
  if (values.every((value) => WITH_ZONE.test(value))) return type === 'text' || type === 'timestamp' ? 'text' : null;
  if (type === 'text' || !(type === 'timestamp' || WHEN.test(name)) || !values.every((value) => COUNT.test(value)))
    return null;
  const within = (unit: number): boolean =>
    values.every((value) => Number(value) / unit >= EARLIEST && Number(value) / unit < LATEST);
  return within(1) ? 'seconds' : within(1000) ? 'milliseconds' : null;
}
