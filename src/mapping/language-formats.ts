/** Formats of the language that need more than a pattern. Complaints never quote the value: it may be a secret. */
import { DURATION_PATTERN, durationProblem, durationSeconds } from '../domain/duration.js';
import { isTenantId, TENANT_ID_PATTERN } from '../domain/names.js';
import { cronProblem } from './cron.js';
import { dialectOf, SOURCE_ADDRESSES } from '../domain/source-address.js';
import { isTimeZone } from '../domain/time-zone.js';
import { phoneLibrary } from './phone-library.js';
import { parseTemplate } from './template.js';

/** What does not look like a duration is a matter of its pattern. */
const within =
  (least: string, longest: string) =>
  (text: string): string | undefined =>
    new RegExp(DURATION_PATTERN).test(text) ? durationProblem(text, least, longest) : undefined;
const overAYear = within('0s', '365d');

/** By the name that the JSON Schemas give in `format`: what is wrong with a text; undefined when it is right. */
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
  'positive-duration': (text) => (durationSeconds(text) === 0 ? 'must be longer than 0s' : overAYear(text)),
  'dependency-wait': within('0s', '24h'),
  // Shorter ones are none for PostgreSQL; longer ones are more than its timer holds.
  'statement-timeout': within('0.01s', '1d'),
  // An activity waits for twice as long, and has half an hour.
  'in-doubt-delay': within('0s', '10m'),
  'follow-time': within('0s', '7d'),
  'schedule-time': overAYear,
  'cursor-overlap': within('0s', '3650d'),
};
