/**
 * Turns Ajv's errors into messages that name the place, what was expected and, if the list is short, the choices.
 */
import type { ErrorObject } from 'ajv';
import { nearest } from '../domain/values/names.js';

/**
 * One message for each breach, such as `/email must match format "email"`, without duplicates. `root` precedes every
 * place: `query`, `body`.
 */
export function errorTexts(errors: readonly ErrorObject[] | null | undefined, root = ''): string[] {
  const found = errors ?? [];
  // anyOf fails once for each alternative and once as a whole. It is reported once, with all alternatives.
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

/** The constant or type that a failed alternative of an anyOf would have accepted; undefined for any other error. */
function alternativeOf(error: ErrorObject): string | undefined {
  const params = error.params as { allowedValue?: unknown; type?: unknown };
  if (error.keyword === 'const') return JSON.stringify(params.allowedValue);
  return error.keyword === 'type' ? String(params.type) : undefined;
}

/**
 * Joins alternatives with "or". Where there are constants they are named alone, since they say more than their common
 * type.
 */
function namedTogether(alternatives: readonly string[]): string {
  const constants = alternatives.filter((text) => text.startsWith('"'));
  return (constants.length > 0 ? constants : alternatives).join(' or ');
}

/** The allowed values of an enum, or the expected types. */
function expectedOf({ keyword, params }: ErrorObject): string[] {
  const { allowedValues, type } = params as { allowedValues: unknown[]; type: string | string[] };
  return keyword === 'enum' ? allowedValues.map((value) => JSON.stringify(value)) : [type].flat();
}

/** The message for any other keyword, with a suggestion for a misspelt field name. */
function breachOf({ keyword, params, message = 'is not valid', parentSchema }: ErrorObject): string {
  const { additionalProperty, allowedValue } = params as { additionalProperty?: string; allowedValue?: unknown };
  if (keyword === 'const') return `${message}: ${JSON.stringify(allowedValue)}`;
  if (additionalProperty !== undefined) {
    const near = nearest(additionalProperty, Object.keys((parentSchema?.['properties'] ?? {}) as object));
    const hint = near === undefined ? '' : `; did you mean "${near}"?`;
    return `has the unknown field ${JSON.stringify(additionalProperty)}${hint}`;
  }
  // A regular expression is exact but unreadable, so a schema may describe the expected form in words.
  const form = keyword === 'pattern' ? (parentSchema?.['form'] as string | undefined) : undefined;
  return form === undefined ? message : `must be ${form}`;
}
