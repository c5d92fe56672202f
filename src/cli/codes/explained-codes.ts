/** Every code that people see, with what it means: one list, derived from the catalogues. */
import { ERROR_CATALOGUE, PartnerSyncError } from '../../domain/errors.js';
import { FINDING_KINDS } from '../../domain/sync/finding-kinds.js';
import { nearest } from '../../domain/values/names.js';
import { withoutPasswords } from '../../domain/values/without-passwords.js';
import { EXIT, EXIT_MEANINGS } from '../exit-codes.js';
import { OUTCOME_MEANINGS, PROBLEM_MEANINGS, RULE_MEANINGS, STATUS_CODES } from './meanings.js';

/** A code and its explanation. */
export interface ExplainedCode {
  readonly code: string;
  /** What kind of code it is, for people: `errors`. */
  readonly group: string;
  readonly meaning: string;
  /** null if it is nothing that could be retried. */
  readonly retry: 'never' | 'later' | null;
  /** null if there is nothing to do. */
  readonly remedy: string | null;
  /** The page, and perhaps the heading, that tells more. */
  readonly page: string;
}

/** All codes, by group. */
export function explainedCodes(): ExplainedCode[] {
  return [
    ...Object.entries(ERROR_CATALOGUE).map(([code, { meaning, retry, remedy }]) => ({
      ...{ code, group: 'errors, and codes of dead letters', meaning, retry, remedy },
      page: 'docs/errors.md',
    })),
    ...Object.entries(FINDING_KINDS).map(([code, { meaning, remedy }]) => ({
      ...{ code, group: 'findings of check', meaning, retry: null, remedy },
      page: 'docs/mapping.md#findings',
    })),
    ...Object.entries(EXIT).map(([name, code]) => ({
      ...{ code: String(code), group: 'exit codes', meaning: EXIT_MEANINGS[name as keyof typeof EXIT] },
      ...{ retry: null, remedy: null, page: 'docs/commands.md#exit-codes' },
    })),
    ...Object.entries(OUTCOME_MEANINGS).map(([code, { meaning, remedy }]) => ({
      ...{ code, group: 'outcomes of runs and rows', meaning, retry: null, remedy },
      page: 'docs/reference.md#runs',
    })),
    ...RULE_MEANINGS.map(([code, { meaning, remedy }]) => ({
      ...{ code, group: 'rules of dead letters', meaning, retry: null, remedy },
      page: 'docs/repair.md#dead-letters',
    })),
    ...Object.entries(PROBLEM_MEANINGS).map(([code, meaning]) => ({
      ...{ code, group: 'problems of status, and alerts', meaning, retry: null, remedy: null },
      page: `docs/something-is-wrong.md#${code}`,
    })),
    ...Object.entries(STATUS_CODES).map(([status, { code, meaning }]) => ({
      ...{ code: status, group: "statuses of the platform's responses", meaning: `${meaning} The error is ${code}.` },
      ...{ retry: ERROR_CATALOGUE[code].retry, remedy: ERROR_CATALOGUE[code].remedy, page: 'docs/errors.md' },
    })),
  ];
}

/**
 * The codes that `given` names: one, or those of several groups that are spelled the same. `given` may be a line as a
 * command prints it: `error source_unreachable: ...`. Throws `input_invalid` with the nearest code if there is none.
 */
export function findCode(given: string, all: readonly ExplainedCode[]): readonly ExplainedCode[] {
  const whole = given.trim().toLowerCase();
  const named = (text: string): readonly ExplainedCode[] => all.filter(({ code }) => code.toLowerCase() === text);
  const words = whole.split(/[\s:;,.()"'`]+/).filter(Boolean);
  const found = [whole, ...words].map(named).find((codes) => codes.length > 0);
  if (found !== undefined) return found;
  // A rule may name a value: `maxLength: 40`.
  const rule = all.filter(({ code }) => code.endsWith(':') && whole.startsWith(code.toLowerCase()));
  if (rule.length > 0) return rule;
  const shown = JSON.stringify(withoutPasswords(given.trim()).slice(0, 80));
  const near = nearest(
    words[0] ?? '',
    all.map(({ code }) => code),
  );
  throw new PartnerSyncError(
    'input_invalid',
    `there is no code ${shown}${near === undefined ? '' : `, did you mean "${near}"?`}; partner-sync explain-code lists all codes`,
  );
}
