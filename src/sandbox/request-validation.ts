/** Validation of requests, compiled from the contract's schemas; everything that is wrong is reported at once. */
import type { AnySchema, ValidateFunction } from 'ajv';
import type { Operation, ParameterNames } from '../platform/contract/operation.js';
import type { OperationName } from '../platform/contract/operations.js';
import type { TwinTable } from '../platform/contract/twins.js';
import { newAjv, schemaOf } from './json-schema.js';
import { Refusal } from './refusal.js';
import type { SandboxSettings } from './settings.js';
import { errorTexts } from './validation-messages.js';

export interface RequestParts {
  readonly params: unknown;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

export interface ValidRequest {
  readonly params: object;
  /** Under the contract's names, with defaults filled in. */
  readonly query: object;
  readonly body: unknown;
}

export type RequestValidator = (request: RequestParts) => ValidRequest;

type InputSettings = Pick<SandboxSettings, 'parameterNames' | 'unknownInput' | 'alsoRequired'>;

// `verbose`: errors carry the schema, whose words they use.
const strictAjv = newAjv({ verbose: true });
/** Takes away the fields that a closed object does not have. */
const tolerantAjv = newAjv({ verbose: true, removeAdditional: true });
/** Query values are text; only they are turned into booleans and integers. */
const queryAjv = newAjv({ coerceTypes: true, useDefaults: true });

/** Answers the validated parts, or throws a refusal that names each wrong place. */
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
  const twins = (operation.data as { readonly twins?: TwinTable }).twins ?? {};
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
      ...unknown.map((parameter) => `query/${parameter} is no parameter of this operation`),
      ...(body === null ? [] : problemsOf(body, request.body, 'body')),
      ...missing(required, twins, request.body),
    ];
    if (problems.length > 0) throw new Refusal('invalid', 'the request is not valid', problems);
    return { params: request.params as object, query: named, body: body === null ? undefined : request.body };
  };
}

/** Fields that the settings require beside the contract; either name of a twin will do. */
function missing(required: readonly string[], twins: TwinTable, body: unknown): string[] {
  const given = (typeof body === 'object' && body !== null ? body : {}) as Readonly<Record<string, unknown>>;
  return required
    .filter((field) => given[field] === undefined && given[twins[field] ?? field] === undefined)
    .map((field) => `body/${field} is required`);
}

/** "boolean or null", "integer or null" (4.8): in a query that can only be said by an empty value or the word. */
function isNullable(schema: AnySchema): boolean {
  const { type, anyOf } = schema as { type?: unknown; anyOf?: { type?: unknown }[] };
  return anyOf === undefined ? Array.isArray(type) && type.includes('null') : anyOf.some((s) => s.type === 'null');
}

function problemsOf(validate: ValidateFunction, value: unknown, root: string): string[] {
  return validate(value) ? [] : errorTexts(validate.errors, root);
}
