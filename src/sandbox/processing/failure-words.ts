/** What a batch says of a failed record: the sandbox's own words, or those that the settings put in their place. */
import type { SandboxSettings } from '../settings.js';
import type { Failure, ParentRule } from './incoming.js';

type Words = SandboxSettings['failureWords'];

const WORDS_OF: Readonly<Record<ParentRule, keyof Words>> = {
  missing_dependency: 'missingParent',
  dependency_expired: 'expired',
};

export function inWords({ rule, reason, parents = '' }: Failure, words: Words): string {
  const of = rule in WORDS_OF ? WORDS_OF[rule as ParentRule] : 'other';
  // In one pass, since an external id may be {reason}.
  return words[of].replace(/\{(reason|parents)\}/g, (_, name) => (name === 'reason' ? reason : parents));
}
