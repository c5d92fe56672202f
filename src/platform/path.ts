/** Builds request paths: every parameter is encoded, and none may walk out of its segment. */
import { PartnerSyncError } from '../domain/errors.js';

/**
 * `/api/batches/{batchId}` with its parameters filled in.
 * `encodeURIComponent('..')` is `..`, and `/a/../b` is `/b`: dot segments are refused, not encoded.
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

/** Why a text can be no segment of a path, even encoded; undefined where it can. Servers take as many characters as these. */
export function segmentProblem(value: string): string | undefined {
  if (value === '' || value === '.' || value === '..') return 'must not be empty, "." or ".."';
  if (!value.isWellFormed()) return 'is not well-formed text';
  if (value.includes('\u0000')) return 'must not hold U+0000';
  if (encodeURIComponent(value).length > LONGEST_SEGMENT)
    return `is longer than ${LONGEST_SEGMENT} bytes once it is encoded`;
  return undefined;
}

/** Node takes 16 KiB for a request's line and headers together, and so do many others. */
const LONGEST_SEGMENT = 12_000;

/** `?a=1&b=true`, leaving out what is undefined; unnamed parameters take the names of the settings. */
export function fillQuery(query: Readonly<Record<string, unknown>>, names: Readonly<Record<string, string>>): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query))
    if (value !== undefined && value !== null) search.set(names[key] ?? key, `${value as string | number | boolean}`);
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}
