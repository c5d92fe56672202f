/** Turns what came back over HTTP into data of the contract, or into an error that says what came instead. */
import { Ajv, type ValidateFunction } from 'ajv';
import { foreignText } from '../domain/foreign-text.js';
import type { Operation } from './contract/operation.js';
import { operations, type OperationName } from './contract/operations.js';
import { renamer, withCamelNames } from './contract/twins.js';
import { platformError, type PlatformError, type PlatformErrorCode } from './error.js';
import { classifyStatus, type StatusClass } from './retry.js';

export interface RawAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly requestId: string | undefined;
  /** Milliseconds that the platform asks to be left alone for. */
  readonly retryAfterMs: number | undefined;
  /** Where a redirect leads: scheme, host and port alone, since the rest may hold anything. */
  readonly location: string | undefined;
  readonly text: string;
}

// Not strict about unknown fields: a platform grows, and a field more is no reason to stop. That the contract's schemas
// are valid is proved by a test, not at each start.
const ajv = new Ajv({ strict: false, allErrors: true, validateSchema: false });

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
  const body = parsed(answer.text);
  if (!isObject(body))
    throw platformError('platform_answer_invalid', operation, `answered ${kindOf(answer, body)}`, seen(answer));
  if (!operation.flat && body['success'] === false) throw refusal('platform_refused', operation, answer, body);
  const { rename, validate } = readerOf(name);
  const raw = operation.flat ? body : body['data'];
  const data = rename ? rename(raw) : raw;
  if (validate(data)) return data;
  const problems = (validate.errors ?? []).map(
    (e) => `data${e.instancePath.replaceAll('/', '.')} ${e.message ?? e.keyword}`,
  );
  throw platformError(
    'platform_answer_invalid',
    operation,
    `answered ${answer.status}, but ${problems.slice(0, 3).join('; ')}`,
    seen(answer),
  );
}

const CODES: Record<StatusClass, PlatformErrorCode> = {
  refused_for_now: 'platform_busy',
  unclear: 'platform_failed',
  unauthorized: 'platform_unauthorized',
  too_large: 'platform_too_large',
  redirect: 'redirect_refused',
  of_a_proxy: 'platform_answer_invalid',
  refused: 'platform_refused',
};

/** The error of a non-success answer, in either of the platform's two shapes. `lasting`: nothing else came for long. */
export function readFailure(operation: Operation, answer: RawAnswer, lasting = false): PlatformError {
  const kind = classifyStatus(answer.status);
  if (kind === 'redirect') return redirect(operation, answer, lasting);
  const body = parsed(answer.text);
  // An error page of a proxy may hold anything, so only what it is is told.
  const told = isObject(body) ? body : { message: `(${kindOf(answer, body)})` };
  return refusal(CODES[kind], operation, answer, told, kind === 'unclear');
}

/** Only 307 and 308 say that what was sent is to be sent elsewhere; before the others it may have been taken. */
function redirect(operation: Operation, answer: RawAnswer, lasting: boolean): PlatformError {
  const where = answer.location === undefined ? '' : ` to ${answer.location}`;
  const often = lasting ? ', and has answered nothing else for minutes' : '';
  return platformError(
    'redirect_refused',
    operation,
    `answered ${answer.status}, a redirect${where}, which is never followed${often}`,
    { ...seen(answer), inDoubt: answer.status < 307, retryAfterMs: answer.retryAfterMs, lasting },
  );
}

function refusal(
  code: PlatformErrorCode,
  operation: Operation,
  answer: RawAnswer,
  body: Record<string, unknown>,
  inDoubt = false,
): PlatformError {
  const alternative = isObject(body['data']) ? body['data']['error'] : undefined;
  const isText = (v: unknown): v is string => typeof v === 'string' && v !== '';
  // Each text once, also where one begins with the other.
  const texts = [...new Set([body['message'], alternative].filter(isText))];
  const words = texts
    .filter((text) => !texts.some((other) => other !== text && other.startsWith(text)))
    .map(shortened)
    .join('; ');
  const errors = Array.isArray(body['errors']) ? body['errors'].filter(isText).slice(0, 10).map(shortened) : [];
  // A refusal of records may quote them, and this message goes into histories and logs.
  const quotes = operation.scope === 'tenant' && (code === 'platform_refused' || code === 'platform_too_large');
  return platformError(
    code,
    operation,
    quotes ? `answered ${answer.status}` : `answered ${answer.status}: ${words || 'no message'}`,
    {
      ...seen(answer),
      words,
      errors,
      inDoubt,
      retryAfterMs: answer.retryAfterMs,
    },
  );
}

const seen = ({ status, requestId }: RawAnswer) => ({ status, requestId });

/** A failure of several megabytes would vanish in Temporal. */
const shortened = (text: string): string => foreignText(text, 300);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What came instead of a JSON object, without quoting it: `200 with HTML (text/html, 5120 characters)`. */
function kindOf({ status, text, contentType }: RawAnswer, body: unknown): string {
  const what =
    text.trim() === ''
      ? 'an empty body'
      : /^\s*</.test(text)
        ? 'HTML'
        : body !== undefined
          ? 'JSON that is not an object'
          : /^\s*[{[]/.test(text)
            ? 'JSON that is cut off or malformed'
            : 'text that is not JSON';
  return `${status} with ${what} (${contentType || 'no content type'}, ${text.length} characters)`;
}
