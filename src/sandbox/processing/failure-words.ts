/** Words the reason of a failed record: as the sandbox does by default, or by a template of the settings. */
import type { SandboxSettings } from '../settings.js';
import type { Failure, ParentRule } from './incoming.js';

type Words = SandboxSettings['failureWords'];

/** Which template applies to which rule. */
const WORDS_OF: Readonly<Record<ParentRule, keyof Words>> = {
  missing_dependency: 'missingParent',
  dependency_expired: 'expired',
};

/** The reason as the batch status shows it (4.14). `{reason}` and `{parents}` in the template are replaced. */
export function inWords({ rule, reason, parents = '' }: Failure, words: Words): string {
  const of = rule in WORDS_OF ? WORDS_OF[rule as ParentRule] : 'other';
  // In one pass, since an external id may itself contain `{reason}`.
  return words[of].replace(/\{(reason|parents)\}/g, (_, name) => (name === 'reason' ? reason : parents));
}
