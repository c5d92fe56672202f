/** Turns an HTTP response into data of the contract, or into an error that says what came instead. */
import { quantity } from '../domain/values/quantity.js';
import { Ajv, type ValidateFunction } from 'ajv';
import { foreignWords } from '../domain/values/foreign-text.js';
import { getOrInsert } from '../domain/values/get-or-insert.js';
import type { Operation } from './contract/operation.js';
import { operations, type OperationName } from './contract/operations.js';
import { renamer, withCamelNames } from './contract/aliases.js';
import { platformError, type CallFacts, type PlatformError, type PlatformErrorCode } from './error.js';
import { classifyStatus, type StatusClass } from './retry.js';

/** A response as it arrived, before its body is parsed. */
export interface RawResponse {
  readonly status: number;
  readonly contentType: string;
  readonly requestId: string | undefined;
  /** Milliseconds of Retry-After. */
  readonly retryAfterMs: number | undefined;
  /** The target of a redirect: scheme, host and port only, since the rest may contain secrets. */
  readonly location: string | undefined;
  readonly text: string;
}

// Unknown fields are accepted, since the platform may add some. A test proves that the contract's schemas are valid, so
// it is not checked at each start. JSON.parse reads 1e400 as Infinity, which is no number of anything.
const ajv = new Ajv({ strict: false, strictNumbers: true, allErrors: true, validateSchema: false });

interface Reader {
  /** Gives fields with an alias their camelCase names; null if the schema has none. */
  readonly rename: ((data: unknown) => unknown) | null;
  readonly validate: ValidateFunction;
}

const readers = new Map<OperationName, Reader>();

const readerOf = (name: OperationName): Reader =>
  getOrInsert(readers, name, () => {
    const { data } = operations[name] as Operation;
    return { rename: renamer(data, withCamelNames), validate: ajv.compile(data) };
  });

const isObject = (v: unknown): v is Record<string, unknown> => typeof v === 'object' && v !== null && !Array.isArray(v);

/**
 * `data` of a successful response, or the whole of a flat one, validated; unknown fields are kept. `params`: those of the
 * path. Throws `platform_response_invalid` naming the field that is missing or is about something else than was asked for,
 * and `platform_refused` for a body that says `success: false`.
 */
export function readSuccess(
  name: OperationName,
  response: RawResponse,
  params: Readonly<Record<string, unknown>>,
): unknown {
  const operation: Operation = operations[name];
  const body = parsed(response.text);
  if (!isObject(body))
    throw platformError('platform_response_invalid', operation, `returned ${kindOf(response, body)}`, seen(response));
  if (!operation.flat && body['success'] === false) throw refusal('platform_refused', operation, response, body);
  // The document does not promise the field everywhere; but what is there must not have to be guessed.
  if (!operation.flat && body['success'] !== undefined && body['success'] !== true)
    throw invalid(operation, response, ['success must be boolean']);
  const { rename, validate } = readerOf(name);
  const raw = operation.flat ? body : body['data'];
  const data = rename ? rename(raw) : raw;
  const problems = validate(data)
    ? mixedUp(operation, data, params)
    : (validate.errors ?? []).map((e) => `data${e.instancePath.replaceAll('/', '.')} ${e.message ?? e.keyword}`);
  if (problems.length === 0) return data;
  throw invalid(operation, response, problems);
}

const invalid = (operation: Operation, response: RawResponse, problems: readonly string[]): PlatformError =>
  platformError(
    'platform_response_invalid',
    operation,
    `returned ${response.status}, but ${problems.slice(0, 3).join('; ')}`,
    seen(response),
  );

/** What is wrong with valid data that is not about what was asked for. Ids are not quoted: they may be of persons. */
function mixedUp({ repeats }: Operation, data: unknown, params: Readonly<Record<string, unknown>>): string[] {
  if (repeats === undefined) return [];
  const told = repeats.at.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), data);
  return told === params[repeats.param]
    ? []
    : [`data.${repeats.at.join('.')} is not the ${repeats.param} that was asked for`];
}

const CODES: Record<StatusClass, PlatformErrorCode> = {
  refused_for_now: 'platform_busy',
  in_doubt: 'platform_failed',
  unauthorized: 'platform_unauthorized',
  too_large: 'platform_too_large',
  redirect: 'redirect_refused',
  of_a_proxy: 'platform_response_invalid',
  refused: 'platform_refused',
};

/**
 * The error of a response without success, in either of the platform's two shapes. `final`: redirects have come for
 * so long that retries are pointless.
 */
export function readFailure(operation: Operation, response: RawResponse, final = false): PlatformError {
  const kind = classifyStatus(response.status);
  if (kind === 'redirect') return redirect(operation, response, final);
  const body = parsed(response.text);
  // An error page of a proxy may contain anything, so only its kind is reported.
  const told = isObject(body) ? body : { message: `(${kindOf(response, body)})` };
  return refusal(CODES[kind], operation, response, told, { inDoubt: kind === 'in_doubt', isForeign: told !== body });
}

/** Only 307 and 308 mean that the request was not processed; with the others it may have been. */
function redirect(operation: Operation, response: RawResponse, final: boolean): PlatformError {
  const where = response.location === undefined ? '' : ` to ${response.location}`;
  const often = final ? ', and has returned nothing else for minutes' : '';
  return platformError(
    'redirect_refused',
    operation,
    `returned ${response.status}, a redirect${where}, which is never followed${often}`,
    { ...seen(response), inDoubt: response.status < 307, retryAfterMs: response.retryAfterMs, final },
  );
}

/** Most specific errors that are kept of a response. */
const ERRORS_KEPT = 10;

function refusal(
  code: PlatformErrorCode,
  operation: Operation,
  response: RawResponse,
  body: Record<string, unknown>,
  { inDoubt, isForeign }: Required<Pick<CallFacts, 'inDoubt' | 'isForeign'>> = { inDoubt: false, isForeign: false },
): PlatformError {
  const alternative = isObject(body['data']) ? body['data']['error'] : undefined;
  const isText = (v: unknown): v is string => typeof v === 'string' && v !== '';
  // Each text once, also if one begins with the other.
  const texts = [...new Set([body['message'], alternative].filter(isText))];
  const platformMessage = texts
    .filter((text) => !texts.some((other) => other !== text && other.startsWith(text)))
    .map(shortened)
    .join('; ');
  const listed = Array.isArray(body['errors']) ? body['errors'].filter(isText) : [];
  const errors = listed.slice(0, ERRORS_KEPT).map(shortened);
  if (listed.length > ERRORS_KEPT) errors.push(`... and ${listed.length - ERRORS_KEPT} more`);
  // This message goes into histories and logs, and whatever the platform says about records may quote them, be it a rejection
  // or the error of its own database. Who may not do a request without a body is told nothing about records.
  const isAboutNoRecord = code === 'platform_unauthorized' && operation.body === null;
  const mayQuoteRecords = operation.scope === 'tenant' && !isAboutNoRecord;
  return platformError(
    code,
    operation,
    mayQuoteRecords ? `returned ${response.status}` : `returned ${response.status}: ${platformMessage || 'no message'}`,
    {
      ...seen(response),
      platformMessage,
      errors,
      inDoubt,
      isForeign,
      retryAfterMs: response.retryAfterMs,
    },
  );
}

const seen = ({ status, requestId }: RawResponse) => ({ status, requestId });

/** Temporal would drop a failure of several megabytes. */
const shortened = (text: string): string => foreignWords(text, 300);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What came instead of a JSON object, without quoting it: `200 with HTML (text/html, 5120 characters)`. */
function kindOf({ status, text, contentType }: RawResponse, body: unknown): string {
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
  return `${status} with ${what} (${contentType || 'no content type'}, ${quantity(text.length, 'character')})`;
}
