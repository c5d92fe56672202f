/** Finds secrets that were pasted into a file. They belong in variables: files are committed, copied and shown. */
import type { JsonObject, JsonValue } from '../../domain/values/json.js';
import type { Path } from './place.js';

/** A secret by its form, and what it is called. */
const FORMS: readonly (readonly [form: RegExp, what: string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----/, 'a private key'],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/, 'a token (JWT)'],
  [/\bAKIA[0-9A-Z]{16}\b/, 'an access key of AWS'],
  [/\b(ghp|gho|ghs|ghr|github_pat|glpat|xox[abprs]|sk_live|rk_live)[_-][\w-]{16,}/, 'a token'],
  [/\bBearer [\w.~+/-]{16,}/i, 'a token'],
  [/hooks\.slack\.com\/services\/\w/, 'an address of Slack, at which whoever knows it can write'],
  [/[a-z]:\/\/[^\s/@:]*:[^\s/@][^\s@]*@/i, 'a password in an address'],
  [/[?&;](password|pwd|token|access_token|secret|api[-_]?key)=[^&;\s]/i, 'a password in an address'],
];
/** Keys of sync.yaml whose value is a secret, whatever it looks like. */
const NAMES = /^(password|passwd|passphrase|secret|client_?secret|token|access_?token|api_?key|private_?key)$/i;

/** A text that is a secret, and where it is. */
export interface SecretInFile {
  readonly path: Path;
  /** What it is, never the secret itself. */
  readonly what: string;
}

/**
 * The secrets in a file as it is written, before variables are filled in.
 *
 * @param named whether a key may tell that its value is a secret: in a mapping, keys are names of fields
 */
export function secretsInFile(value: JsonValue, named: boolean, path: Path = []): SecretInFile[] {
  if (typeof value === 'string') {
    const what = whatSecret(value, named ? path.at(-1) : undefined);
    return what === undefined ? [] : [{ path, what }];
  }
  if (value === null || typeof value !== 'object') return [];
  const isList = Array.isArray(value);
  return Object.entries(value as JsonObject).flatMap(([key, inner]) =>
    secretsInFile(inner, named, [...path, isList ? Number(key) : key]),
  );
}

function whatSecret(text: string, key: string | number | undefined): string | undefined {
  const literal = text.replaceAll(/\$\{env:[^}]*\}/g, '');
  const form = FORMS.find(([pattern]) => pattern.test(literal));
  if (form !== undefined) return form[1];
  return typeof key === 'string' && NAMES.test(key) && literal.trim() !== '' ? `the value of ${key}` : undefined;
}
