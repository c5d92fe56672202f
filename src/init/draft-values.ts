/** What the values of a column say of how to send them, where the type does not say it. */
import type { CatalogColumn } from '../domain/source-catalog.js';
import { isRounded } from '../mapping/exact-number.js';
import { declaredBytes } from './sample.js';

/** Whether some value is more than a JSON number holds. */
export const passesNumbers = ({ type }: CatalogColumn, values: readonly string[]): boolean =>
  (type === 'integer' || type === 'decimal') && values.some(isRounded);

const UUID_BYTES = 16;
/** More bytes than an id or a hash has are a file. */
const FEW_BYTES = 64;

/** How bytes are written: 16 of them are nearly always a UUID. `files`: too many to be sent unasked. */
export function bytesForm({ databaseType }: CatalogColumn, values: readonly string[]): 'uuid' | 'hex' | 'files' {
  const declared = declaredBytes(databaseType);
  const lengths = declared === null ? values.map((value) => (value.length - '\\x'.length) / 2) : [declared];
  if (lengths.length === 0 || Math.max(...lengths) > FEW_BYTES) return 'files';
  const fixed = declared === null || /^binary/i.test(databaseType);
  return fixed && lengths.every((length) => length === UUID_BYTES) ? 'uuid' : 'hex';
}

const WITH_ZONE = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d(:?\d\d)?)$/;
const COUNT = /^\d+(\.\d+)?$/;
/** Called like a point in time. */
const WHEN = /((^|_)(at|on|ts|time|date|datetime|timestamp)|[a-z](At|On|Ts|Time|Date|Timestamp))$/;
/** Seconds of the years 1990 to 2099; no other number of milliseconds is among them. */
const [EARLIEST, LATEST] = [631_152_000, 4_102_444_800];

/** Points in time where the database has no type for them; null where the values are something else. */
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
