/** Builds request paths: every parameter is encoded, and none can escape from its segment. */
import { PartnerSyncError } from '../domain/errors.js';

/**
 * `/api/batches/{batchId}` with its parameters filled in. `encodeURIComponent('..')` is `..`, and `/a/../b` is `/b`, so
 * dot segments are rejected rather than encoded. Throws `input_invalid` that names the parameter.
 */
export function fillPath(template: string, params: Readonly<Record<string, unknown>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const given = params[name];
    const value = typeof given === 'string' ? given : '';
    const problem = segmentProblem(value);
    if (problem !== undefined)
      throw new PartnerSyncError('input_invalid', `path parameter ${name} ${problem}`, { name });
    return encodeURIComponent(value);
  });
}

/** Why a text cannot be a path segment, even encoded; undefined if it can. */
export function segmentProblem(value: string): string | undefined {
  if (value === '' || value === '.' || value === '..') return 'must not be empty, "." or ".."';
  if (!value.isWellFormed()) return 'is not well-formed text';
  if (value.includes('\u0000')) return 'must not contain U+0000';
  if (encodeURIComponent(value).length > LONGEST_SEGMENT)
    return `is longer than ${LONGEST_SEGMENT} bytes once it is encoded`;
  return undefined;
}

/** Node accepts 16 KiB for request line and headers together, as many servers do. */
const LONGEST_SEGMENT = 12_000;

/**
 * `?a=1&b=true`, without what is undefined or null; empty without any. `names` are the settings' names of the
 * parameters that the platform's document leaves unnamed.
 */
export function fillQuery(query: Readonly<Record<string, unknown>>, names: Readonly<Record<string, string>>): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query))
    if (value !== undefined && value !== null) search.set(names[key] ?? key, `${value as string | number | boolean}`);
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}
