/**
 * The last step of every field: from the kind that a value has to the JSON type that the schema definition asks for.
 */
import { copyDate, copyInstant } from './copy-date.js';
import { copyBoolean, copyInteger, copyNumber, PLAIN_BYTES, type ByteTable, type CopyValue } from './copy-value.js';
import { dateFromDatabase, instantFromDatabase } from './date-from-database.js';
import { exactInteger, exactNumber } from './exact-number.js';
import { exactJson } from './exact-json.js';
import { textForm, type Kind, type Step } from './value-kind.js';
import { Rejection } from './rejection.js';
import type { Target } from '../definition/target.js';

/** What is guaranteed for every value of a field that is not null, and so need not be validated; null: nothing. */
export interface Proven {
  readonly type: 'string' | 'number' | 'integer' | 'boolean' | null;
  readonly format: 'date' | 'date-time' | null;
}

/** How the values of one kind become JSON. */
export interface LastStep {
  /** null if the value stays as it is. */
  readonly step: Step | null;
  /** The fast path from bytes: a copier, or for text the table of its bytes; null if there is none. */
  readonly copy: CopyValue | ByteTable | null;
  readonly proven: Proven;
}

/** The last step, or what is wrong and what to do, as the end of a sentence about the column or the template. */
export type Conversion = LastStep | { readonly problem: string };

/**
 * Chooses the conversion by kind and target. Conversions never lose anything: whatever needs a decision, such as the
 * zone of a local time, is a problem that names the transform to use.
 */
export function conversionOf(kind: Kind, target: Target): Conversion {
  switch (kind) {
    case 'other':
      return { problem: 'has no conversion; turn it into text in the query' };
    case 'timestamp':
      return { problem: 'is a timestamp without a zone; name its zone with the transform dateTime: { zone: ... }' };
    case 'json':
      return { step: exactJson, copy: null, proven: NOTHING };
    case 'integer':
    case 'decimal':
    case 'float':
      return fromNumber(kind, target);
    case 'text':
      return takes(target, 'string') ? TEXT : fromText(target);
    case 'boolean':
      return takes(target, 'boolean') ? BOOLEAN : toText(kind, target);
    case 'date':
      return target.format === 'date-time'
        ? { problem: 'is a date, and the field is a date-time; choose the midnight with dateTime: { zone: ... }' }
        : toText(kind, target);
    case 'timestamptz':
    case 'dateTime':
      return target.format === 'date' || target.format === 'time'
        ? {
            problem: `is a point in time, and the field is a ${target.format}; convert it in the query, in the zone that you mean`,
          }
        : toText(kind, target);
    case 'jsonNumber':
      return takes(target, 'number') || takes(target, 'integer') ? asItIs('number') : mismatch('number', target);
    case 'jsonBoolean':
      return takes(target, 'boolean') ? asItIs('boolean') : mismatch('boolean', target);
    case 'list':
      return takes(target, 'array') ? asItIs(null) : mismatch('a list', target);
    case 'time':
    case 'uuid':
    case 'bytes':
    case 'hex':
      return toText(kind, target);
  }
}

/** A boolean only from integers, as MySQL and SQLite store it, and only if the field takes nothing else that fits. */
function fromNumber(kind: Kind, target: Target): Conversion {
  if (takes(target, 'number')) return NUMBER;
  if (takes(target, 'integer')) return INTEGER;
  if (takes(target, 'boolean') && kind === 'integer' && !takes(target, 'string')) return BOOLEAN;
  return toText(kind, target);
}

function fromText(target: Target): Conversion {
  if (takes(target, 'number')) return NUMBER;
  if (takes(target, 'integer')) return INTEGER;
  if (takes(target, 'boolean'))
    return {
      problem:
        'is text, and the field is a boolean; declare which texts mean true and false with boolean: { true: [...], false: [...] }',
    };
  return mismatch('text', target);
}

function toText(kind: Kind, target: Target): Conversion {
  if (!takes(target, 'string')) return mismatch(kind, target);
  switch (kind) {
    case 'date':
      return DATE;
    case 'timestamptz':
      return INSTANT;
    case 'dateTime':
      return { step: null, copy: null, proven: { type: 'string', format: 'date-time' } };
    default: {
      // Kinds without a text form do not get here.
      const { step } = textForm(kind)!;
      return step === null ? TEXT : { ...TEXT, step, copy: null };
    }
  }
}

const proves = (type: Proven['type']): Proven => ({ type, format: null });
const NOTHING = proves(null);
const TEXT: LastStep = { step: null, copy: PLAIN_BYTES, proven: proves('string') };
const NUMBER: LastStep = { step: exactNumber, copy: copyNumber, proven: proves('number') };
const INTEGER: LastStep = { step: exactInteger, copy: copyInteger, proven: proves('integer') };
const BOOLEAN: LastStep = { step: booleanFromDatabase, copy: copyBoolean, proven: proves('boolean') };
const DATE: LastStep = { step: dateFromDatabase, copy: copyDate, proven: { type: 'string', format: 'date' } };
const INSTANT: LastStep = {
  step: instantFromDatabase,
  copy: copyInstant,
  proven: { type: 'string', format: 'date-time' },
};

/** For values that a transform has already turned into JSON. */
const asItIs = (type: 'number' | 'boolean' | null): LastStep => ({ step: null, copy: null, proven: proves(type) });

const mismatch = (kind: string, target: Target): Conversion => ({
  problem: `ends up as ${kind}, and the schema definition asks for ${target.types.join(' or ')}`,
});

/** A target without a type takes every type. */
function takes(target: Target, type: string): boolean {
  return target.types.length === 0 || target.types.includes(type);
}

function booleanFromDatabase(text: string): boolean | Rejection {
  if (text === 't' || text === 'true' || text === '1') return true;
  if (text === 'f' || text === 'false' || text === '0') return false;
  return new Rejection('boolean', 'neither true nor false', text);
}
