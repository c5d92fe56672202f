/** Turns what came back over HTTP into data of the contract, or into an error that says what came instead. */
import { Ajv, type ValidateFunction } from 'ajv';
import { PartnerSyncError, type ErrorCode } from '../domain/errors.js';
import { foreignText } from '../domain/foreign-text.js';
import { renamer, withCamelNames } from './contract/twins.js';
import type { Operation } from './contract/operation.js';
import { operations, type OperationName } from './contract/operations.js';
import type { StatusClass } from './retry.js';

export interface RawAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly requestId: string | undefined;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

// Not strict about unknown fields: a platform grows, and a field more is no reason to stop.
const ajv = new Ajv({ strict: false, allErrors: true });

interface Reader {
  /** Gives twins their camelCase names; null where there are none. */
  readonly rename: ((data: unknown) => unknown) | null;
  readonly validate: ValidateFunction;
}

const readers = new Map<OperationName, Reader>();

function readerOf(name: OperationName): Reader {
  let reader = readers.get(name);
  if (reader === undefined) {
    const { data } = operations[name] as Operation;
    readers.set(name, (reader = { rename: renamer(data, withCamelNames), validate: ajv.compile(data) }));
  }
  return reader;
}

const isObject = (v: unknown): v is Record<string, unknown> => typeof v === 'object' && v !== null && !Array.isArray(v);

/**
 * `data` of a success answer, or the whole of a flat one, validated.
 * Throws `platform_answer_invalid` naming the field that is missing.
 */
export function readSuccess(name: OperationName, answer: RawAnswer): unknown {
  const operation: Operation = operations[name];
  const envelope = parseJson(answer, operation);
  if (!operation.flat && envelope['success'] === false) throw refusal('platform_refused', operation, answer, envelope);
  const { rename, validate } = readerOf(name);
  const raw = operation.flat ? envelope : envelope['data'];
  const data = rename ? rename(raw) : raw;
  if (!validate(data)) {
    const problems = (validate.errors ?? []).map(
      (e) => `data${e.instancePath.replaceAll('/', '.')} ${e.message ?? e.keyword}`,
    );
    throw new PartnerSyncError(
      'platform_answer_invalid',
      `${describe(operation)} answered ${answer.status}, but ${problems.slice(0, 3).join('; ')}`,
      { status: answer.status, requestId: answer.requestId },
    );
  }
  return data;
}

const CODES: Record<StatusClass, ErrorCode> = {
  refused_for_now: 'platform_busy',
  unclear: 'platform_failed',
  unauthorized: 'platform_unauthorized',
  too_large: 'platform_too_large',
  redirect: 'redirect_refused',
  refused: 'platform_refused',
};

/** The error of a non-success answer, in either of the platform's two shapes. */
export function readFailure(operation: Operation, answer: RawAnswer, kind: StatusClass): PartnerSyncError {
  return refusal(CODES[kind], operation, answer, errorBody(operation, answer));
}

function errorBody(operation: Operation, answer: RawAnswer): Record<string, unknown> {
  try {
    return parseJson(answer, operation);
  } catch {
    // An error page of a proxy: its text may be anything, so only its kind is told.
    return { message: `(no JSON: ${answer.contentType || 'no content type'}, ${answer.text.length} characters)` };
  }
}

function refusal(
  code: ErrorCode,
  operation: Operation,
  answer: RawAnswer,
  body: Record<string, unknown>,
): PartnerSyncError {
  const alternative = isObject(body['data']) ? body['data']['error'] : undefined;
  const words = [body['message'], alternative]
    .filter((w): w is string => typeof w === 'string' && w !== '')
    .map(shortened)
    .join('; ');
  const errors = Array.isArray(body['errors'])
    ? body['errors']
        .filter((e): e is string => typeof e === 'string')
        .slice(0, 10)
        .map(shortened)
    : [];
  return new PartnerSyncError(
    code,
    // A refusal of records may quote them, and this message goes into histories and logs.
    operation.scope === 'tenant' && (code === 'platform_refused' || code === 'platform_too_large')
      ? `${describe(operation)} answered ${answer.status}`
      : `${describe(operation)} answered ${answer.status}: ${words || 'no message'}`,
    {
      status: answer.status,
      words,
      requestId: answer.requestId,
      errors,
    },
  );
}

/** A failure of several megabytes would vanish in Temporal. */
const shortened = (text: string): string => foreignText(text, 300);

function parseJson(answer: RawAnswer, operation: Operation): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(answer.text);
  } catch {
    parsed = undefined;
  }
  if (isObject(parsed)) return parsed;
  const what = /^\s*</.test(answer.text)
    ? 'HTML'
    : parsed === undefined
      ? 'text that is not (or only half) JSON'
      : 'JSON that is not an object';
  throw new PartnerSyncError(
    'platform_answer_invalid',
    `${describe(operation)} answered ${answer.status} with ${what} (${answer.contentType || 'no content type'}, ${answer.text.length} characters)`,
    { status: answer.status, requestId: answer.requestId },
  );
}

export const describe = (operation: Operation): string => `${operation.method} ${operation.path}`;
