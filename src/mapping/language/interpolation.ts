/** `${env:NAME}` inside text values. It is filled in after parsing, so that a value can never become syntax. */
import { readFileSync } from 'node:fs';
import type { FindingKind } from '../../domain/sync/finding.js';
import type { JsonObject, JsonValue } from '../../domain/values/json.js';
import type { Path } from './place.js';

/** Environment variables by name, as in `process.env`. An empty value counts as not set. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The values of a file with its variables filled in. */
export interface FilledIn {
  readonly value: JsonValue;
  /** The texts as written, if something was filled in, by path (as JSON): what messages quote instead of the value. */
  readonly written: ReadonlyMap<string, string>;
  readonly problems: readonly { readonly path: Path; readonly kind: FindingKind; readonly message: string }[];
}

const PLACEHOLDER = /\$\{env:([^}]*)\}/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Fills in the variables of all texts, at any depth; keys are left alone. A variable that is not set may be in the file that
 * `<NAME>_FILE` names, without the line break at its end. A placeholder that cannot be filled stays as
 * it is and is reported: `env_missing` for a variable that is not set, `env_invalid` for anything else. A value that
 * itself contains a placeholder is rejected rather than filled in again, which might never end.
 */
export function fillIn(value: JsonValue, env: Environment): FilledIn {
  const written = new Map<string, string>();
  const problems: { path: Path; kind: FindingKind; message: string }[] = [];

  function text(path: Path, original: string): string {
    if (!original.includes('${env:')) return original;
    written.set(JSON.stringify(path), original);
    const filled = original.replace(PLACEHOLDER, (placeholder, name: string) => {
      if (!NAME.test(name)) {
        problems.push({ path, kind: 'env_invalid', message: `${placeholder} does not name an environment variable` });
        return placeholder;
      }
      const { found, missing } = valueOf(env, name);
      if (found === undefined) problems.push({ path, kind: 'env_missing', message: missing });
      else if (found.includes('${env:'))
        problems.push({
          path,
          kind: 'env_invalid',
          message: `the environment variable ${name} itself contains a \${env:...}`,
        });
      else return found;
      return placeholder;
    });
    if (original.replace(PLACEHOLDER, ' ').includes('${env:'))
      problems.push({ path, kind: 'env_invalid', message: `\${env: is never closed; write \${env:NAME}` });
    return filled;
  }

  function walk(path: Path, at: JsonValue): JsonValue {
    if (typeof at === 'string') return text(path, at);
    if (Array.isArray(at)) return at.map((item: JsonValue, index) => walk([...path, index], item));
    if (typeof at !== 'object' || at === null) return at;
    // `fromEntries` defines properties, so a key named __proto__ stays a key.
    return Object.fromEntries(Object.entries(at as JsonObject).map(([key, item]) => [key, walk([...path, key], item)]));
  }

  return { value: walk([], value), written, problems };
}

/** The variable that a finding `env_missing` says is not set; undefined if it is set to a file that cannot be read. */
export const unsetVariable = (message: string): string | undefined =>
  /^the environment variable (\w+) is not set$/.exec(message)?.[1];

/** The value of a variable, or why there is none. */
function valueOf(env: Environment, name: string): { readonly found?: string; readonly missing: string } {
  const set = (key: string): string => (Object.hasOwn(env, key) ? (env[key] ?? '') : '');
  const missing = `the environment variable ${name} is not set`;
  if (set(name) !== '') return { found: set(name), missing };
  const file = set(`${name}_FILE`);
  if (file === '') return { missing };
  try {
    const found = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    return found === '' ? { missing: `the file that ${name}_FILE names is empty` } : { found, missing };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    return { missing: `the file that ${name}_FILE names cannot be read (${code})` };
  }
}
