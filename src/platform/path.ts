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
    if (value === '' || value === '.' || value === '..')
      throw new PartnerSyncError('input_invalid', `path parameter ${name} must not be empty, "." or ".."`, { name });
    if (!value.isWellFormed())
      throw new PartnerSyncError('input_invalid', `path parameter ${name} is not well-formed text`);
    return encodeURIComponent(value);
  });
}

/** `?a=1&b=true`, leaving out what is undefined; unnamed parameters take the names of the settings. */
export function fillQuery(query: Readonly<Record<string, unknown>>, names: Readonly<Record<string, string>>): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query))
    if (value !== undefined && value !== null) search.set(names[key] ?? key, `${value as string | number | boolean}`);
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}
