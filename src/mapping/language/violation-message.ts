/** The wording of findings about a file's form: what was found, what is allowed, and what was probably meant. */
import type { ErrorObject } from 'ajv';
import type { FindingKind } from '../../domain/sync/finding.js';
import type { JsonObject } from '../../domain/values/json.js';
import { nearest } from '../../domain/values/names.js';
import { LANGUAGE_FORMATS } from './language-formats.js';
import { formatPath, type Path } from './place.js';
import { propertiesOf, requiredOf } from '../definition/target.js';
import { transformNames } from '../transforms/describe-transforms.js';
import { TRANSFORMS } from '../transforms/registry.js';
import type { Transform } from '../transforms/transform.js';

/** One mistake in a file's form. */
export interface Violation {
  readonly kind: FindingKind;
  readonly path: Path;
  /** Whether the finding is about the key itself or its value. */
  readonly at: 'key' | 'value';
  readonly message: string;
  /**
   * Path of the object that contains the key. With it, the key suggested for an unknown one and the key that is missing
   * are recognised as one mistake.
   */
  readonly parent: string;
  readonly suggestion?: string;
  readonly missing?: string;
}

/** A value as the author wrote it, short enough for a message. `secret`: the environment filled something in. */
export type Show = (path: Path, value: unknown) => { readonly text: string; readonly secret: boolean };

/**
 * An error of ajv in words, for the value at `path`. Suggestions are made for values of the file only: the nearest word
 * to a secret would give it away.
 */
export function violationOf(error: ErrorObject, path: Path, show: Show): Violation {
  const params = error.params as Record<string, unknown>;
  const parent = (error.parentSchema ?? {}) as JsonObject;
  const title = typeof parent['title'] === 'string' ? parent['title'] : undefined;
  const { text: came, secret } = show(path, error.data);
  const at = (kind: FindingKind, message: string): Violation => ({
    kind,
    path,
    at: 'value',
    message,
    parent: formatPath(path.slice(0, -1)),
  });
  switch (error.keyword) {
    case 'additionalProperties':
      return unknownKey(String(params['additionalProperty']), path, parent, title);
    case 'propertyNames': {
      const name = String(params['propertyName']);
      const message = `the name "${name}" is not allowed here`;
      return { kind: 'forbidden_name', path: [...path, name], at: 'key', message, parent: formatPath(path) };
    }
    case 'required': {
      const missing = String(params['missingProperty']);
      const message = `the key "${missing}" is missing${describedKey(parent, missing)}`;
      return { kind: 'missing_key', path, at: 'value', message, parent: formatPath(path), missing };
    }
    case 'type':
      return at(
        'wrong_type',
        `must be ${(path.length > 0 && title !== undefined && named(title)) || typesInWords(parent)}; got ${came} (${typeInWords(error.data)})`,
      );
    case 'enum': {
      const allowed = title === 'transform' ? transformNames() : (params['allowedValues'] as unknown[]).map(String);
      const near = secret || typeof error.data !== 'string' ? undefined : nearest(error.data, allowed);
      const bare = title === 'transform' ? TRANSFORMS.get(String(error.data)) : undefined;
      if (bare !== undefined && !secret) return at('missing_key', needsOptions(bare));
      const noun = title === 'transform' ? 'unknown transform' : 'not allowed:';
      const kind = title === 'transform' ? 'unknown_transform' : 'not_allowed';
      return at(
        kind,
        `${noun} ${came}.${didYouMean(near)} ${title === 'transform' ? 'Known' : 'Allowed'}: ${allowed.join(', ')}`,
      );
    }
    case 'format': {
      const format = String(params['format']);
      const problem = LANGUAGE_FORMATS[format]?.(String(error.data)) ?? 'is not valid';
      return at(kindOfFormat(format), `${came}: ${problem}`);
    }
    case 'pattern':
      return at('bad_format', `must be ${title ?? `text that matches ${String(params['pattern'])}`}; got ${came}`);
    case 'maxProperties':
      return at('too_many', `must have one key only; got ${came}`);
    case 'uniqueItems':
      return at('duplicate', `must not name anything twice; got ${came}`);
    case 'minProperties':
    case 'minItems':
    case 'minLength':
      return at(
        'empty',
        `must ${Number(params['limit']) > 1 ? `have at least ${String(params['limit'])}` : 'not be empty'}; got ${came}`,
      );
    default:
      return at(
        'out_of_range',
        `${title === undefined ? '' : `must be ${title}: `}${error.message ?? error.keyword}; got ${came}`,
      );
  }
}

/** Each format has a kind of its own (a test compares them). */
const kindOfFormat = (format: string): FindingKind => `bad_${format.replaceAll('-', '_')}` as FindingKind;

/** The value fits none of the branches of a choice. */
export function choiceViolation(branches: readonly JsonObject[], value: unknown, path: Path, show: Show): Violation {
  const parent = formatPath(path.slice(0, -1));
  const object = typeof value === 'object' && value !== null && !Array.isArray(value);
  const ways = branches
    .filter((branch) => branch['type'] === 'object')
    .map((branch) => requiredOf(branch).join(' and '));
  if (object && ways.length > 0) {
    const came = Object.keys(value).join(', ') || 'nothing';
    return { kind: 'missing_key', path, at: 'value', message: `needs one of: ${ways.join(', ')}; got ${came}`, parent };
  }
  const map = typesInWords({ type: 'object' });
  const titles = branches.map((branch) =>
    typeof branch['title'] === 'string' ? named(branch['title']) : typesInWords(branch),
  );
  const allowed = new Set(
    titles.map((title) => (title === map && ways.length > 0 ? `a map with ${ways.join(' or ')}` : title)),
  );
  const message = `must be ${[...allowed].join(' or ')}; got ${show(path, value).text} (${typeInWords(value)})`;
  return { kind: 'wrong_type', path, at: 'value', message, parent };
}

function unknownKey(key: string, path: Path, parent: JsonObject, title: string | undefined): Violation {
  const allowed = Object.keys(propertiesOf(parent));
  const near = nearest(key, allowed);
  const known = title === 'transform' ? 'Known' : 'Allowed';
  return {
    kind: title === 'transform' ? 'unknown_transform' : 'unknown_key',
    path: [...path, key],
    at: 'key',
    message: `unknown ${title === 'transform' ? 'transform' : 'key'} "${key}".${didYouMean(near)} ${known}: ${allowed.join(', ') || 'none'}`,
    parent: formatPath(path),
    ...(near === undefined ? {} : { suggestion: near }),
  };
}

const needsOptions = ({ name, options }: Transform): string =>
  `the transform ${name} needs options: { ${name}: { ${(options.required ?? []).join(': ..., ')}: ... } }`;

/** The suggestion as a sentence with a leading space; empty without one. */
export const didYouMean = (near: string | undefined): string => (near === undefined ? '' : ` Did you mean "${near}"?`);

/** What a missing key is for, from its description in the schema. */
function describedKey(parent: JsonObject, key: string): string {
  const property = propertiesOf(parent)[key] as JsonObject | undefined;
  const description = property?.['description'];
  return typeof description === 'string' ? `: ${description}` : '';
}

const named = (title: string): string => (title === 'transform' ? 'the name of a transform' : title);

const WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  object: 'a map of keys',
  array: 'a list',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  null: 'null',
};

const typesInWords = (schema: JsonObject): string =>
  [schema['type'] as string | string[]]
    .flat()
    .map((type) => WORDS[type] ?? type)
    .join(' or ');

const typeInWords = (value: unknown): string =>
  WORDS[value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value] ?? typeof value;
