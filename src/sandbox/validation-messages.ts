/** What ajv found, in words that name the place, what was expected and, where it is a short list, the choices. */
import type { ErrorObject } from 'ajv';
import { nearest } from '../domain/names.js';

/** One text for each breach: `/email must match format "email"`. `root` stands before every place: `query`, `body`. */
export function errorTexts(errors: readonly ErrorObject[] | null | undefined, root = ''): string[] {
  const found = errors ?? [];
  // A choice fails once for each alternative and then once for the whole: said once, with all alternatives.
  const choices = new Set(found.filter((error) => error.keyword === 'anyOf').map((error) => error.instancePath));
  const alternatives = new Map<string, Set<string>>();
  const texts: string[] = [];
  for (const error of found) {
    const place = `${root}${error.instancePath}` || '/';
    const alternative = choices.has(error.instancePath) ? alternativeOf(error) : undefined;
    const named = alternatives.get(place) ?? new Set();
    if (alternative !== undefined) alternatives.set(place, named.add(alternative));
    else if (error.keyword === 'enum' || error.keyword === 'type')
      texts.push(`${place} must be ${expectedOf(error).join(' or ')}`);
    else if (error.keyword !== 'anyOf') texts.push(`${place} ${breachOf(error)}`);
    else if (named.size > 0) texts.push(`${place} must be ${namedTogether([...named])}`);
  }
  return [...new Set(texts)];
}

/** The alternative that an error speaks of, if it speaks of one. */
function alternativeOf(error: ErrorObject): string | undefined {
  const params = error.params as { allowedValue?: unknown; type?: unknown };
  if (error.keyword === 'const') return JSON.stringify(params.allowedValue);
  return error.keyword === 'type' ? String(params.type) : undefined;
}

/** Constants say what is allowed better than their common type does. */
function namedTogether(alternatives: readonly string[]): string {
  const constants = alternatives.filter((text) => text.startsWith('"'));
  return (constants.length > 0 ? constants : alternatives).join(' or ');
}

/** The values, or the types, that were expected. */
function expectedOf({ keyword, params }: ErrorObject): string[] {
  const { allowedValues, type } = params as { allowedValues: unknown[]; type: string | string[] };
  return keyword === 'enum' ? allowedValues.map((value) => JSON.stringify(value)) : [type].flat();
}

function breachOf({ keyword, params, message = 'is not valid', parentSchema }: ErrorObject): string {
  const { additionalProperty, allowedValue } = params as { additionalProperty?: string; allowedValue?: unknown };
  if (keyword === 'const') return `${message}: ${JSON.stringify(allowedValue)}`;
  if (additionalProperty !== undefined) {
    const near = nearest(additionalProperty, Object.keys((parentSchema?.['properties'] ?? {}) as object));
    const advice = near === undefined ? '' : `; did you mean "${near}"?`;
    return `has the unknown field ${JSON.stringify(additionalProperty)}${advice}`;
  }
  // A pattern says it to the letter, its field's own words say it to people.
  const form = keyword === 'pattern' ? (parentSchema?.['form'] as string | undefined) : undefined;
  return form === undefined ? message : `must be ${form}`;
}
