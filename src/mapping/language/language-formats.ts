/** Formats of the language that need more than a pattern. Messages never quote the value: it may be a secret. */
import { DURATION_PATTERN, durationProblem, durationSeconds } from '../../domain/values/duration.js';
import { isTenantId, TENANT_ID_PATTERN } from '../../domain/values/names.js';
import { cronProblem } from './cron-problem.js';
import { dialectOf, SOURCE_ADDRESSES } from '../../domain/source/source-address.js';
import { isTimeZone } from '../../domain/values/time-zone.js';
import { phoneLibrary } from '../transforms/phone.js';
import { parseTemplate } from './template.js';

/** Bounds of a duration. Text that does not look like a duration is reported by the pattern of the same value. */
const within =
  (least: string, longest: string) =>
  (text: string): string | undefined =>
    new RegExp(DURATION_PATTERN).test(text) ? durationProblem(text, least, longest) : undefined;
const overAYear = within('0s', '365d');

/** Whether user and password are percent-encoded as they must be: `%` alone is not. */
function hasReadableAccount({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

/**
 * By the name that the JSON Schemas give in `format`: what is wrong with a text, undefined if it is valid. Editors do
 * not know these formats and accept any text; `partner-sync check` reports it.
 */
export const LANGUAGE_FORMATS: Readonly<Record<string, (text: string) => string | undefined>> = {
  cron: cronProblem,
  'time-zone': (text) =>
    isTimeZone(text) ? undefined : 'is not a time zone; use an IANA name such as Europe/London or UTC',
  template: (text) => {
    const parsed = parseTemplate(text);
    return 'problem' in parsed ? parsed.problem : undefined;
  },
  'tenant-id': (text) => (isTenantId(text) ? undefined : `a tenant id must match ${TENANT_ID_PATTERN}`),
  'phone-country': (text) =>
    phoneLibrary().isSupportedCountry(text) ? undefined : 'is not a country code with telephone numbers, such as GB',
  'source-url': (text) => (dialectOf(text) === undefined ? `must be a URL such as ${SOURCE_ADDRESSES}` : undefined),
  'alert-url': (text) =>
    /^https?:\/\/[^\s/]/i.test(text) && URL.canParse(text) && hasReadableAccount(new URL(text))
      ? undefined
      : 'must be an address that begins with https:// or http://; name a variable that holds it, as in ${env:ALERT_URL}',
  'email-address': (text) =>
    /^[^\s@<>,;:"]+@[^\s@<>,;:"]+$/.test(text) ? undefined : 'must be one e-mail address, such as ops@example.com',
  'positive-duration': (text) => (durationSeconds(text) === 0 ? 'must be longer than 0s' : overAYear(text)),
  'dependency-wait': (text) =>
    within('0s', '24h')(text) ??
    (Number.isInteger(durationSeconds(text))
      ? undefined
      : 'must be a whole number of seconds, as the platform takes it'),
  // PostgreSQL takes shorter ones as none; longer ones exceed its timer.
  'statement-timeout': within('0.01s', '1d'),
  // An activity waits for twice as long, and has half an hour.
  'in-doubt-delay': within('0s', '10m'),
  'pending-time': within('0s', '7d'),
  'guard-wait': within('1s', '7d'),
  'schedule-time': overAYear,
  // Shorter, and a row might go while somebody still looks at its run.
  'retention-time': within('1d', '3650d'),
  'cursor-overlap': within('0s', '3650d'),
};
