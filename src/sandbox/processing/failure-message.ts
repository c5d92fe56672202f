/** What is said of a failed record: the sandbox's own reason, or a message by a template of the settings. */
import type { SandboxSettings } from '../settings.js';
import type { Failure, ParentRule } from './incoming.js';

type Messages = SandboxSettings['failureMessages'];

/** Which template applies to which rule. */
const TEMPLATE_OF: Readonly<Record<ParentRule, keyof Messages>> = {
  missing_dependency: 'missingParent',
  dependency_expired: 'expired',
};

/** The reason as the batch status shows it (4.14). `{reason}` and `{parents}` in the template are replaced. */
export function failureMessage({ rule, reason, parents = '' }: Failure, messages: Messages): string {
  const template = rule in TEMPLATE_OF ? TEMPLATE_OF[rule as ParentRule] : 'other';
  // In one pass, since an external id may itself contain `{reason}`.
  return messages[template].replace(/\{(reason|parents)\}/g, (_, name) => (name === 'reason' ? reason : parents));
}
