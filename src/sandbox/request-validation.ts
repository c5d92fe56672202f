/** Validation of requests, compiled from the contract's schemas; everything that is wrong is reported at once. */
import type { AnySchema, ValidateFunction } from 'ajv';
import type { Operation, ParameterNames } from '../platform/contract/operation.js';
import { newAjv, schemaOf } from './json-schema.js';
import { Refusal } from './refusal.js';
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

const strictAjv = newAjv();
/** Query values are text; only they are turned into booleans and integers. */
const queryAjv = newAjv({ coerceTypes: true, useDefaults: true });

/** Answers the validated parts, or throws a 400 that names each wrong place. */
export function requestValidator(operation: Operation, parameterNames: ParameterNames): RequestValidator {
  const params = strictAjv.compile(schemaOf(operation.params));
  const query = queryAjv.compile(schemaOf(operation.query));
  const body = operation.body === null ? null : strictAjv.compile(schemaOf(operation.body));
  const properties = Object.entries(operation.query.properties).map(([name, schema]) => ({
    name,
    wireName: parameterNames[name as keyof ParameterNames] ?? name,
    emptyMeansDefault: isNullable(schemaOf(schema)),
  }));
  return (request) => {
    const named: Record<string, unknown> = {};
    for (const { name, wireName, emptyMeansDefault } of properties) {
      const value = request.query[wireName];
      if (value === undefined || (emptyMeansDefault && (value === '' || value === 'null'))) continue;
      named[name] = value;
    }
    const problems = [
      ...problemsOf(params, request.params, 'path'),
      ...problemsOf(query, named, 'query'),
      ...(body === null ? [] : problemsOf(body, request.body, 'body')),
    ];
    if (problems.length > 0) throw new Refusal(400, 'the request is not valid', problems);
    return { params: request.params as object, query: named, body: body === null ? undefined : request.body };
  };
}

/** "boolean or null", "integer or null" (4.8): in a query that can only be said by an empty value or the word. */
function isNullable(schema: AnySchema): boolean {
  const { type, anyOf } = schema as { type?: unknown; anyOf?: { type?: unknown }[] };
  return anyOf === undefined ? Array.isArray(type) && type.includes('null') : anyOf.some((s) => s.type === 'null');
}

function problemsOf(validate: ValidateFunction, value: unknown, root: string): string[] {
  return validate(value) ? [] : errorTexts(validate.errors, root);
}
