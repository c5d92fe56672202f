/** Makes a {@link Transform} of what a user's file exports: nothing that it does can end a run or leak a value. */
import { encodeJson, type JsonObject, type JsonValue } from '../../../domain/values/json.js';
import type { Kind } from '../../encode/value-kind.js';
import { rejected, type Transform } from '../transform.js';
import type {
  CustomTransform,
  TransformContext,
  TransformOption,
  TransformRejection,
  TransformResults,
} from './define-transform.js';
import { pureCall } from './pure-call.js';

/** How the results of each kind are known, and what the language calls that kind afterwards. */
interface Result {
  readonly kind: Kind;
  /** The value as the next step takes it; undefined if it is not of this kind. */
  readonly taken: (value: unknown) => JsonValue | undefined;
  readonly words: string;
}

const ifSo = (is: (value: unknown) => boolean) => (value: unknown) => (is(value) ? (value as JsonValue) : undefined);

/** By the name in `gives`. */
export const RESULTS: Readonly<Record<keyof TransformResults, Result>> = {
  text: { kind: 'text', taken: ifSo((value) => typeof value === 'string'), words: 'a text' },
  number: { kind: 'jsonNumber', taken: ifSo(Number.isFinite), words: 'a finite number' },
  boolean: { kind: 'jsonBoolean', taken: ifSo((value) => typeof value === 'boolean'), words: 'true or false' },
  list: {
    kind: 'list',
    // A list may have holes, which "every" would skip.
    taken: ifSo((value) => Array.isArray(value) && Array.from(value).every((entry) => typeof entry === 'string')),
    words: 'a list of texts',
  },
  json: { kind: 'json', taken: jsonText, words: 'a map or list that JSON can represent' },
};

/** As the database writes JSON, since the next step reads it like a column of that type. */
function jsonText(value: unknown): string | undefined {
  try {
    return typeof value === 'object' && value !== null ? encodeJson(value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** Only of errors that JavaScript itself defines: any other name may contain data. */
const ERROR_NAMES = ['Error', 'TypeError', 'RangeError', 'SyntaxError', 'ReferenceError', 'EvalError', 'URIError'];

/** The transform `name` as built-in ones are. Its options have been checked, and defaults are not filled in yet. */
export function customTransform(name: string, definition: CustomTransform): Transform {
  const { apply, gives, options = {}, rejections = {}, takes = ['text'], description = '' } = definition;
  const { taken, kind, words } = RESULTS[gives];
  const own = new Map(Object.keys(rejections).map((rejection) => [rejection, Object.freeze({ rejection })]));
  /** Reasons by the objects themselves: those of others are not looked into, since their properties may be code. */
  const reasons = new Map<unknown, string>(Array.from(own, ([name, rejection]) => [rejection, rejections[name]!]));
  const reject = (reason: string): TransformRejection => {
    const rejection = own.get(reason);
    if (rejection === undefined) throw new RangeError('the reason is not declared');
    return rejection;
  };

  return {
    name,
    description,
    options: optionsSchema(options),
    takes,
    gives: kind,
    make: (given) => {
      const context: TransformContext = Object.freeze({ options: frozen(withDefaults(options, given)), reject });
      return (value) => {
        try {
          const called = pureCall(() => apply(value, context));
          if ('impure' in called) return rejected(name, `the transform is not pure: it ${called.impure}`, value);
          const { result } = called;
          if (result === null) return null;
          const reason = reasons.get(result);
          if (reason !== undefined) return rejected(name, reason, value);
          const fit = taken(result);
          if (fit !== undefined) return fit;
          return rejected(name, `the transform returned ${inWords(result)} instead of ${words}`, value);
        } catch (error) {
          // Its message may contain the value. What was returned may throw as well when it is looked at.
          return rejected(name, `the transform threw ${errorName(error)}`, value);
        }
      };
    },
    examples: [],
  };
}

/** JSON Schema of the options, as built-in transforms declare theirs: required is what has no default. */
export const optionsSchema = (options: Readonly<Record<string, TransformOption>>): Transform['options'] => ({
  properties: options as JsonObject,
  required: Object.keys(options).filter((name) => options[name]!.default === undefined),
});

const withDefaults = (options: Readonly<Record<string, TransformOption>>, given: JsonObject): JsonObject => ({
  ...Object.fromEntries(
    Object.entries(options).flatMap(([name, option]) => (option.default === undefined ? [] : [[name, option.default]])),
  ),
  ...given,
});

/** All fields have their own copy, so that one cannot change the options of another. */
function frozen<T extends JsonValue>(value: T): T {
  const copy = structuredClone(value);
  const freeze = (part: JsonValue): void => {
    if (typeof part !== 'object' || part === null) return;
    Object.values(part).forEach(freeze);
    Object.freeze(part);
  };
  freeze(copy);
  return copy;
}

function errorName(error: unknown): string {
  try {
    return error instanceof Error && ERROR_NAMES.includes(error.name) ? error.name : 'an error';
  } catch {
    return 'an error';
  }
}

/** What came, by its type alone. */
function inWords(result: unknown): string {
  if (result instanceof Promise) return 'a promise; it must be synchronous, and return its result';
  if (Array.isArray(result)) return 'a list';
  return result === undefined ? 'nothing' : typeof result === 'object' ? 'an object' : `a ${typeof result}`;
}
