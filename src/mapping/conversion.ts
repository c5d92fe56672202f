/** The last step of every field: from the kind that a value has to the JSON type that the schema asks for. */
import { copyBoolean, copyDate, copyInstant, copyInteger, copyNumber, PLAIN_BYTES } from './byte-json.js';
import type { ByteTable, CopyValue } from './byte-json.js';
import { dateFromDatabase, instantFromDatabase } from './date-text.js';
import { exactInteger, exactNumber } from './exact-number.js';
import { exactJson } from './exact-json.js';
import { integerInJson, numberInJson, plainInJson, textInJson, valueInJson } from './json-text.js';
import { textForm } from './kinds.js';
import type { Kind, Step } from './kinds.js';
import { Rejection } from './rejection.js';
import type { Target } from './target.js';

/** What holds for every value that a field can have, so that no validator needs to look again. */
export interface Proven {
  readonly type: 'string' | 'number' | 'integer' | 'boolean' | null;
  readonly format: 'date' | 'date-time' | null;
}

export interface LastStep {
  /** null where the value is right as it is. */
  readonly step: Step | null;
  /** The JSON text of what `step` gives, on a shorter way; undefined where only the step itself can tell. */
  readonly inJson: (value: string) => string | undefined;
  /** The same from bytes, or only what each byte of a text becomes; null where there is no such way. */
  readonly inBytes: CopyValue | ByteTable | null;
  readonly proven: Proven;
}

/** The last step, or why there is none, in words that say what to do. */
export type Conversion = LastStep | { readonly problem: string };

export function conversion(kind: Kind, target: Target): Conversion {
  switch (kind) {
    case 'other':
      return { problem: 'has no conversion; turn it into text in the query' };
    case 'timestamp':
      return { problem: 'is a timestamp without a zone; name its zone with the transform dateTime: { zone: ... }' };
    case 'json':
      return { step: exactJson, inJson: (text) => valueInJson(exactJson(text)), inBytes: null, proven: NOTHING };
    case 'integer':
    case 'decimal':
    case 'float':
      return fromNumber(kind, target);
    case 'text':
      return takes(target, 'string') ? TEXT : fromText(target);
    case 'boolean':
      return takes(target, 'boolean') ? BOOLEAN : toText(kind, target);
    case 'date':
      return isOneOf(target.format, 'date-time')
        ? { problem: 'is a date, and the field a date-time; say which midnight with dateTime: { zone: ... }' }
        : toText(kind, target);
    case 'timestamptz':
    case 'dateTime':
      return isOneOf(target.format, 'date', 'time')
        ? {
            problem: `is a point in time, and the field a ${target.format}; choose the zone's ${target.format} in the query`,
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
        'is text, and the field a boolean; say which texts mean which with boolean: { true: [...], false: [...] }',
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
      return { step: null, inJson: plainInJson, inBytes: null, proven: { type: 'string', format: 'date-time' } };
    default: {
      const step = textForm(kind)?.step ?? null;
      return step === null ? TEXT : { ...TEXT, step, inJson: (value) => valueInJson(step(value)), inBytes: null };
    }
  }
}

const proves = (type: Proven['type']): Proven => ({ type, format: null });
const NOTHING = proves(null);
const TEXT: LastStep = { step: null, inJson: textInJson, inBytes: PLAIN_BYTES, proven: proves('string') };
const NUMBER: LastStep = { step: exactNumber, inJson: numberInJson, inBytes: copyNumber, proven: proves('number') };
const INTEGER: LastStep = {
  step: exactInteger,
  inJson: integerInJson,
  inBytes: copyInteger,
  proven: proves('integer'),
};
const BOOLEAN: LastStep = {
  step: booleanFromDatabase,
  inJson: (text) => valueInJson(booleanFromDatabase(text)),
  inBytes: copyBoolean,
  proven: proves('boolean'),
};
const DATE: LastStep = {
  step: dateFromDatabase,
  inJson: (text) => plainUnlessRejected(dateFromDatabase(text)),
  inBytes: copyDate,
  proven: { type: 'string', format: 'date' },
};
const INSTANT: LastStep = {
  step: instantFromDatabase,
  inJson: (text) => plainUnlessRejected(instantFromDatabase(text)),
  inBytes: copyInstant,
  proven: { type: 'string', format: 'date-time' },
};

/** For what a transform has finished already. */
const asItIs = (type: 'number' | 'boolean' | null): LastStep => ({
  step: null,
  inJson: valueInJson,
  inBytes: null,
  proven: proves(type),
});

const plainUnlessRejected = (text: string | Rejection): string | undefined =>
  typeof text === 'string' ? plainInJson(text) : undefined;

const mismatch = (kind: string, target: Target): Conversion => ({
  problem: `is ${kind} at the end, and the schema definition asks for ${target.types.join(' or ')}`,
});

function takes(target: Target, type: string): boolean {
  return target.types.length === 0 || target.types.includes(type);
}

const isOneOf = (format: string | null, ...formats: string[]): boolean => format !== null && formats.includes(format);

function booleanFromDatabase(text: string): boolean | Rejection {
  if (text === 't' || text === 'true' || text === '1') return true;
  if (text === 'f' || text === 'false' || text === '0') return false;
  return new Rejection('boolean', 'neither true nor false', text);
}
