/** Checks what the file of a transform exports: its form, and that its examples come out as they say. */
import { Ajv } from 'ajv';
import type { JsonObject, JsonValue } from '../../../domain/values/json.js';
import { sameJson } from '../../../domain/records/compare.js';
import { Rejection } from '../../encode/rejection.js';
import { TEXT_KINDS } from '../../encode/value-kind.js';
import type { Transform } from '../transform.js';
import { customTransform, optionsSchema, RESULTS } from './custom-transform.js';
import type { CustomTransform, CustomTransformExample } from './define-transform.js';
import { watchingPurity } from './pure-call.js';

/** The form of a definition, but for `apply`, which is no JSON. */
const FORM: JsonObject = {
  type: 'object',
  properties: {
    description: { type: 'string' },
    takes: { type: 'array', items: { enum: TEXT_KINDS }, minItems: 1 },
    gives: { enum: Object.keys(RESULTS) },
    options: { type: 'object', additionalProperties: { type: 'object' } },
    rejections: { type: 'object', additionalProperties: { type: 'string', minLength: 1 } },
    examples: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        properties: { in: { type: 'string' }, out: {}, rejected: { type: 'string' }, options: { type: 'object' } },
        required: ['in'],
        oneOf: [{ required: ['out'] }, { required: ['rejected'] }],
        additionalProperties: false,
      },
    },
  },
  required: ['gives', 'examples'],
  additionalProperties: false,
};

/** Strict about keywords, so that a misspelt one in the options is found. */
const ajv = (): Ajv =>
  new Ajv({ strict: true, strictTypes: false, strictRequired: false, allErrors: true, allowUnionTypes: true });

/** The transform `name` that the file exports, or everything that is wrong with it, for people. */
export function checkDefinition(name: string, exported: unknown): Transform | readonly string[] {
  if (typeof exported !== 'object' || exported === null)
    return ['has no default export that is a transform: export default defineTransform({ ... })'];
  const { apply, ...rest } = exported as CustomTransform;
  const problems = problemsOf(FORM, rest);
  if (typeof apply !== 'function') problems.push('apply must be a function');
  if (problems.length > 0) return problems;
  const definition = exported as CustomTransform;
  const ofOptions = tryOptions(definition);
  if (ofOptions !== undefined) return [ofOptions];
  const transform = customTransform(name, definition);
  const failed = definition.examples.flatMap((example, index) => {
    const problem = exampleProblem(transform, definition, example);
    return problem === undefined ? [] : [`examples[${index}]: ${problem}`];
  });
  return failed.length > 0 ? failed : transform;
}

/** What is wrong with the options that a mapping gives; empty if nothing is. */
export function optionProblems({ options }: Pick<Transform, 'options'>, given: JsonObject): string[] {
  return problemsOf({ type: 'object', ...options, additionalProperties: false }, given, 'options');
}

function problemsOf(schema: JsonObject, value: unknown, dataVar = ''): string[] {
  const compiled = ajv();
  if (compiled.validate(schema, value)) return [];
  return compiled
    .errorsText(compiled.errors, { dataVar, separator: '\n' })
    .split('\n')
    .map((line) => line.replace(/^\//, ''));
}

function tryOptions({ options = {} }: CustomTransform): string | undefined {
  try {
    ajv().compile({ type: 'object', ...optionsSchema(options) });
  } catch (error) {
    return `options are no JSON Schema: ${(error as Error).message}`;
  }
  return undefined;
}

/** Quotes values: they are from the file. */
function exampleProblem(
  transform: Transform,
  { rejections = {} }: CustomTransform,
  example: CustomTransformExample,
): string | undefined {
  const [badOptions] = optionProblems(transform, example.options ?? {});
  if (badOptions !== undefined) return badOptions;
  const result = watchingPurity(() => transform.make(example.options ?? {})(example.in));
  const expected = 'out' in example ? JSON.stringify(example.out) : `the rejection "${example.rejected}"`;
  if (result instanceof Rejection) {
    if ('rejected' in example && (rejections as Record<string, string>)[example.rejected] === result.reason)
      return undefined;
    return `expected ${expected}, got: ${result.reason}`;
  }
  const json = transform.gives === 'json' && result !== null ? (result as string) : JSON.stringify(result);
  const isSame = 'out' in example && sameJson(JSON.parse(json) as JsonValue, example.out);
  return isSame ? undefined : `expected ${expected}, got ${json}`;
}
