/** What is wrong with a file that somebody wrote: each place as a JSON pointer, what came there, what was expected. */
import type { ErrorObject } from 'ajv';
import { nearest } from '../domain/names.js';

/** A value is quoted up to so many characters. */
const QUOTED = 60;

/** Needs errors of a validator that was compiled with `verbose`: they carry what came. */
export function invalidPlaces(errors: readonly ErrorObject[] | null | undefined): string[] {
  return (errors ?? []).map((error) => {
    const params = error.params as { additionalProperty?: string; missingProperty?: string; allowedValues?: unknown[] };
    const properties = (error.parentSchema?.['properties'] ?? {}) as Record<string, { description?: string }>;
    const extra = params.additionalProperty;
    if (extra !== undefined) {
      const known = Object.keys(properties);
      const near = nearest(extra, known);
      const advice = near === undefined ? `expected one of: ${known.join(', ')}` : `did you mean "${near}"?`;
      return `${error.instancePath}/${extra}: not known here; ${advice}`;
    }
    const missing = params.missingProperty;
    if (missing !== undefined)
      return `${error.instancePath}/${missing}: missing${explained(properties[missing]?.description)}`;
    const expected =
      params.allowedValues === undefined
        ? (error.message ?? 'another value').replace(/^must /, '')
        : `one of ${params.allowedValues.map((value) => JSON.stringify(value)).join(', ')}`;
    const description = error.parentSchema?.['description'] as string | undefined;
    return `${error.instancePath || '/'}: ${quoted(error.data)} came, expected ${expected.replace(/^be /, '')}${explained(description)}`;
  });
}

/** A value as JSON, cut where it is long. */
export function quoted(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > QUOTED ? `${text.slice(0, QUOTED).toWellFormed()}...` : text;
}

const explained = (description: string | undefined): string => (description === undefined ? '' : ` (${description})`);
