/** The last step of every field: from the kind that a value has to the JSON type that the schema asks for. */
import { dateFromDatabase, instantFromDatabase } from './date-text.js';
import { exactInteger, exactNumber } from './exact-number.js';
import { exactJson } from './exact-json.js';
import { textForm } from './kinds.js';
import type { Kind, Step } from './kinds.js';
import { Rejection } from './rejection.js';
import type { Target } from './target.js';

/** A step (null: as it is), or why there is none, in words that say what to do. */
export type Conversion = { readonly step: Step | null } | { readonly problem: string };

export function conversion(kind: Kind, target: Target): Conversion {
  switch (kind) {
    case 'bytes':
    case 'other':
      return { problem: 'has no conversion; turn it into text in the query' };
    case 'timestamp':
      return { problem: 'is a timestamp without a zone; name its zone with the transform dateTime: { zone: ... }' };
    case 'json':
      return { step: exactJson };
    case 'integer':
    case 'decimal':
    case 'float':
      return fromNumber(kind, target);
    case 'text':
      return takes(target, 'string') ? { step: null } : fromText(target);
    case 'boolean':
      return takes(target, 'boolean') ? { step: booleanFromDatabase } : toText(kind, target);
    case 'date':
      return isOneOf(target.format, 'date-time')
        ? { problem: 'is a date, and the field a date-time; say which midnight with dateTime: { zone: ... }' }
        : toText(kind, target, dateFromDatabase);
    case 'timestamptz':
    case 'dateTime':
      return isOneOf(target.format, 'date', 'time')
        ? {
            problem: `is a point in time, and the field a ${target.format}; choose the zone's ${target.format} in the query`,
          }
        : toText(kind, target, kind === 'timestamptz' ? instantFromDatabase : null);
    case 'jsonNumber':
      return takes(target, 'number') || takes(target, 'integer') ? { step: null } : mismatch('number', target);
    case 'jsonBoolean':
      return takes(target, 'boolean') ? { step: null } : mismatch('boolean', target);
    case 'time':
    case 'uuid':
      return toText(kind, target);
  }
}

function fromNumber(kind: Kind, target: Target): Conversion {
  if (takes(target, 'number')) return { step: exactNumber };
  if (takes(target, 'integer')) return { step: exactInteger };
  if (takes(target, 'boolean') && kind === 'integer' && !takes(target, 'string')) return { step: booleanFromDatabase };
  return toText(kind, target);
}

function fromText(target: Target): Conversion {
  if (takes(target, 'number')) return { step: exactNumber };
  if (takes(target, 'integer')) return { step: exactInteger };
  if (takes(target, 'boolean'))
    return {
      problem:
        'is text, and the field a boolean; say which texts mean which with boolean: { true: [...], false: [...] }',
    };
  return mismatch('text', target);
}

function toText(kind: Kind, target: Target, step: Step | null = textForm(kind)?.step ?? null): Conversion {
  return takes(target, 'string') ? { step } : mismatch(kind, target);
}

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
