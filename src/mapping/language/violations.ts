/**
 * One finding for each mistake: ajv reports the errors of every branch of a choice, people need those of the one they
 * meant.
 */
import type { ErrorObject } from 'ajv';
import { nearest } from '../../domain/values/names.js';
import type { JsonObject } from '../../domain/values/json.js';
import type { LanguageSchema } from './language-schema.js';
import { pathOfPointer, type Path } from './place.js';
import { asObject, propertiesOf, requiredOf } from '../definition/target.js';
import { choiceViolation, violationOf, type Show, type Violation } from './violation-message.js';

/** What is wrong with `value`. `show` writes a value as the author did, so that no secret is quoted. */
export function violationsOf(language: LanguageSchema, value: unknown, show: Show): Violation[] {
  return withoutEchoes(explain(language, language.root, value, [], show));
}

/**
 * The errors outside any choice as they are, and for each choice that failed the errors of the branch that was meant.
 */
function explain(language: LanguageSchema, part: JsonObject, value: unknown, base: Path, show: Show): Violation[] {
  const errors = language.errors(part, value);
  const choices = outermostChoices(errors);
  const inChoice = (error: ErrorObject): boolean =>
    choices.some((c) => error.instancePath === c.instancePath || error.instancePath.startsWith(`${c.instancePath}/`));
  const pathOf = (error: ErrorObject): Path => [...base, ...pathOfPointer(error.instancePath, value)];
  return [
    ...errors
      // An error about the name of a key is reported once, by `propertyNames` itself.
      .filter((error) => !inChoice(error) && error.propertyName === undefined)
      .map((error) => violationOf(error, pathOf(error), show)),
    ...choices.flatMap((choice) => {
      const branches = (choice.schema as JsonObject[]).map((branch) => language.resolve(branch));
      const meant = branchMeant(branches, choice.data);
      if (meant === undefined) return [choiceViolation(branches, choice.data, pathOf(choice), show)];
      return explain(language, meant, choice.data, pathOf(choice), show);
    }),
  ];
}

/** The choices that failed, without those inside another one. ajv lists inner ones first. */
function outermostChoices(errors: readonly ErrorObject[]): ErrorObject[] {
  const choices = errors.filter((error) => error.keyword === 'anyOf');
  return choices.filter(
    (choice, index) =>
      !choices.some(
        (other, at) =>
          (other.instancePath === choice.instancePath && at > index) ||
          (other.instancePath !== choice.instancePath && choice.instancePath.startsWith(`${other.instancePath}/`)) ||
          (other.instancePath === '' && choice.instancePath !== ''),
      ),
  );
}

/**
 * The branch that was meant: by the value's JSON type, and among objects by the required keys that are there, or
 * nearly.
 */
function branchMeant(branches: readonly JsonObject[], value: unknown): JsonObject | undefined {
  const ofType = branches.filter((branch) => typeFits(branch, value));
  const object = asObject(value as JsonObject);
  if (ofType.length <= 1 || object === undefined) return ofType[0];
  const keys = Object.keys(object);
  const complete = ofType.find((branch) => requiredOf(branch).every((key) => keys.includes(key)));
  const unknown = keys.filter((key) => !ofType.some((branch) => Object.hasOwn(propertiesOf(branch), key)));
  // A misspelled key may be the one that tells.
  if (complete !== undefined && unknown.length === 0) return complete;
  const nearly = ofType.find((branch) =>
    requiredOf(branch).every(
      (key) => keys.includes(key) || unknown.some((other) => nearest(other, [key]) !== undefined),
    ),
  );
  if (nearly !== undefined) return nearly;
  // A key that all branches require does not tell which of them was meant.
  const telling = (branch: JsonObject): readonly string[] =>
    requiredOf(branch).filter((key) => !ofType.every((other) => requiredOf(other).includes(key)));
  return ofType.find((branch) => telling(branch).some((key) => keys.includes(key)));
}

function typeFits(branch: JsonObject, value: unknown): boolean {
  const type = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
  const types = [branch['type'] ?? type].flat();
  return types.includes(type) || (types.includes('integer') && Number.isInteger(value));
}

/** `colum:` is an unknown key and makes `column` missing. That is one mistake, so only the first is reported. */
function withoutEchoes(violations: readonly Violation[]): Violation[] {
  const suggested = new Set(
    violations.flatMap((v) => (v.suggestion === undefined ? [] : [`${v.parent}\n${v.suggestion}`])),
  );
  return violations.filter((v) => v.kind !== 'missing_key' || !suggested.has(`${v.parent}\n${v.missing}`));
}
