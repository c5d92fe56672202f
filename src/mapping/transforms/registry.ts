/** All transforms by name. A new one is a new file beside this one and one line here. */
import { boolean } from './boolean.js';
import { collapseBlanks } from './collapse-blanks.js';
import { dateTime } from './date-time.js';
import { emptyToNull } from './empty-to-null.js';
import { encode } from './encode.js';
import { hash } from './hash.js';
import { instant } from './instant.js';
import { integer } from './integer.js';
import { lowercase } from './lowercase.js';
import { nullIf } from './null-if.js';
import { number } from './number.js';
import { part } from './part.js';
import { phone } from './phone.js';
import { split } from './split.js';
import { string } from './string.js';
import type { Transform } from './transform.js';
import { trim } from './trim.js';
import { uppercase } from './uppercase.js';
import { values } from './values.js';

/**
 * By name, in the order of docs/mapping.md: cleaning first, then conversions. The language's JSON Schema allows exactly
 * these.
 */
export const TRANSFORMS: ReadonlyMap<string, Transform> = new Map(
  [
    trim,
    collapseBlanks,
    lowercase,
    uppercase,
    emptyToNull,
    nullIf,
    values,
    phone,
    dateTime,
    instant,
    number,
    integer,
    boolean,
    string,
    part,
    split,
    hash,
    encode,
  ].map((transform) => [transform.name, transform]),
);
