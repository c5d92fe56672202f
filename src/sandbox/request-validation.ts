/** Validates requests against the contract's schemas and reports everything that is wrong at once. */
import type { AnySchema, ValidateFunction } from 'ajv';
import type { Operation, ParameterNames } from '../platform/contract/operation.js';
import type { OperationName } from '../platform/contract/operations.js';
import type { AliasTable } from '../platform/contract/aliases.js';
import { createAjv, schemaOf } from './json-schema.js';
import { Refusal } from './refusal.js';
import type { SandboxSettings } from './settings.js';
import { errorTexts } from './validation-messages.js';

/** The parts of a request as Fastify has parsed them; query values are text. */
export interface RequestParts {
  readonly params: unknown;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/**
 * A request that matches the contract. Query parameters have the contract's names, their declared types and defaults.
 */
export interface ValidRequest {
  readonly params: object;
  /** Keyed by the contract's names, even if the wire uses another (`parameterNames`). */
  readonly query: object;
  readonly body: unknown;
}

/** Throws an `invalid` {@link Refusal} that lists every breach, each with its place: `path`, `query` or `body`. */
export type RequestValidator = (request: RequestParts) => ValidRequest;

type InputSettings = Pick<SandboxSettings, 'parameterNames' | 'unknownInput' | 'alsoRequired'>;

// `verbose`: the messages use the schema's own wording, so errors must carry it.
const strictAjv = createAjv({ verbose: true });
/** Removes fields that a closed object does not declare; for `unknownInput.body: ignore`. */
const tolerantAjv = createAjv({ verbose: true, removeAdditional: true });
/** Query values arrive as text, so only they are coerced to booleans and numbers. */
const queryAjv = createAjv({ coerceTypes: true, useDefaults: true });

/** Compiles the validator of one operation under these settings. `name` selects the fields that `alsoRequired` adds. */
export function requestValidator(
  name: OperationName,
  operation: Operation,
  { parameterNames, unknownInput, alsoRequired }: InputSettings,
): RequestValidator {
  const params = strictAjv.compile(schemaOf(operation.params));
  const query = queryAjv.compile(schemaOf(operation.query));
  const bodyAjv = unknownInput.body === 'ignore' ? tolerantAjv : strictAjv;
  const body = operation.body === null ? null : bodyAjv.compile(schemaOf(operation.body));
  const required = (alsoRequired as Readonly<Record<string, readonly string[]>>)[name] ?? [];
  const aliases = (operation.data as { readonly aliases?: AliasTable }).aliases ?? {};
  const properties = Object.entries(operation.query.properties).map(([name, schema]) => ({
    name,
    wireName: parameterNames[name as keyof ParameterNames] ?? name,
    emptyMeansDefault: isNullable(schemaOf(schema)),
  }));
  const wireNames = new Set(properties.map(({ wireName }) => wireName));
  return (request) => {
    const named: Record<string, unknown> = {};
    for (const { name, wireName, emptyMeansDefault } of properties) {
      const value = request.query[wireName];
      if (value === undefined || (emptyMeansDefault && (value === '' || value === 'null'))) continue;
      named[name] = value;
    }
    const unknown = unknownInput.query === 'ignore' ? [] : Object.keys(request.query).filter((n) => !wireNames.has(n));
    const problems = [
      ...problemsOf(params, request.params, 'path'),
      ...problemsOf(query, named, 'query'),
      ...unknown.map((parameter) => `query/${parameter} is not a parameter of this operation`),
      ...(body === null ? [] : problemsOf(body, request.body, 'body')),
      ...missing(required, aliases, request.body),
    ];
    if (problems.length > 0) throw new Refusal('invalid', 'the request is not valid', problems);
    return { params: request.params as object, query: named, body: body === null ? undefined : request.body };
  };
}

/**
 * A message for each field that the settings require in addition to the contract; an alias satisfies it too.
 */
function missing(required: readonly string[], aliases: AliasTable, body: unknown): string[] {
  const given = (typeof body === 'object' && body !== null ? body : {}) as Readonly<Record<string, unknown>>;
  return required
    .filter((field) => given[field] === undefined && given[aliases[field] ?? field] === undefined)
    .map((field) => `body/${field} is required`);
}

/**
 * Whether the parameter may be null ("boolean or null", "integer or null", 4.8). A query can express that only as an
 * empty value or the word `null`.
 */
function isNullable(schema: AnySchema): boolean {
  const { type, anyOf } = schema as { type?: unknown; anyOf?: { type?: unknown }[] };
  return anyOf === undefined ? Array.isArray(type) && type.includes('null') : anyOf.some((s) => s.type === 'null');
}

function problemsOf(validate: ValidateFunction, value: unknown, root: string): string[] {
  return validate(value) ? [] : errorTexts(validate.errors, root);
}
