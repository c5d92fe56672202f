/** Settings of segments, reports, channels and the library. */
import { Type } from 'typebox';
import { SCHEMA_CATEGORIES } from '../../domain/sync/sync.js';
import { Choice, Flag, Group, Texts } from './group.js';

const Word = (defaultValue: string) => (description: string) =>
  Type.String({ minLength: 1, default: defaultValue, description });

/**
 * What segments (4.2, 4.7), reports (4.1, 4.16), channels (4.9, 4.11) and the library (4.6) do where the document does
 * not say.
 */
export const MESSAGING = {
  contactCategories: Type.Array(Type.Enum([...SCHEMA_CATEGORIES]), {
    default: ['contacts_schema'],
    minItems: 1,
    description: 'Categories of the schema definitions whose records are people (4.2, 4.7).',
  }),
  contactFields: Group(
    'Names of the fields that describe a recipient (4.7), in order of preference, whatever their spelling.',
    {
      firstName: Texts(['firstName', 'givenName', 'forename'], 'First name.'),
      lastName: Texts(['lastName', 'familyName', 'surname'], 'Last name.'),
      email: Texts(['email', 'emailAddress', 'mail'], 'Email address.'),
      phone: Texts(
        ['phone', 'phoneNumber', 'mobile', 'mobileNumber', 'mobilePhone', 'telephone', 'cell'],
        'Telephone number.',
      ),
      emailOptOut: Texts(
        ['emailOptedOut', 'emailOptOut', 'optedOutOfEmail', 'unsubscribed', 'optedOut', 'optOut'],
        'Opted out of emails if true.',
      ),
      smsOptOut: Texts(
        ['smsOptedOut', 'smsOptOut', 'optedOutOfSms', 'unsubscribed', 'optedOut', 'optOut'],
        'Opted out of text messages if true.',
      ),
      emailOptIn: Texts(
        ['emailOptIn', 'emailOptedIn', 'emailConsent', 'marketingOptIn', 'marketingConsent', 'subscribed', 'optIn'],
        'Opted out of emails if false.',
      ),
      smsOptIn: Texts(
        ['smsOptIn', 'smsOptedIn', 'smsConsent', 'marketingOptIn', 'marketingConsent', 'subscribed', 'optIn'],
        'Opted out of text messages if false.',
      ),
    },
  ),
  counting: Group('Which people a count (4.7) includes.', {
    withoutSegments: Choice(['everybody', 'nobody'], 'Who is counted if the request includes no segment.'),
    included: Choice(['any', 'all'], 'Whether a person must match any or all of several included segments.'),
    excluded: Choice(
      ['any', 'all'],
      'Whether any of several excluded segments excludes a person, or only all of them together.',
    ),
    automation: Choice(
      ['added', 'alone'],
      'Whether the segments of `automationId` are added to those of the body or replace them.',
    ),
    optedOut: Choice(['listed', 'left_out'], 'People who opted out of emails and of text messages.'),
  }),
  reportDates: Group('`startDate` and `endDate` (section 4).', {
    format: Choice(['iso', 'epoch'], 'ISO 8601 (a day in UTC, or a time with its zone), or milliseconds since 1970.'),
    end: Choice(['included', 'excluded'], 'Whether the end belongs to the range.'),
  }),
  usage: Group('What 4.1 lists and counts.', {
    order: Choice(['most_first', 'least_first'], 'Direction of the ranking by total sends.'),
    broadcastTriggers: Texts(['one_time'], 'Triggers of automations that are broadcasts.'),
    activeStatuses: Texts(['active'], 'Statuses of automations that are active.'),
    sentBefore: Choice(
      ['listed', 'left_out'],
      'A tenant that would be listed only because it has sent, but not within the range.',
    ),
  }),
  voice: Group('What 4.16 lists.', {
    tenants: Choice(['with_calls', 'all'], 'Tenants that had a call in the range, or all.'),
  }),
  mailDomain: Type.String({
    pattern: '^[a-z0-9-]+(\\.[a-z0-9-]+)+$',
    default: 'mail.sandbox.example',
    description:
      "The platform's own mail domain: DNS records point to it, and the domains of channel accounts are below it.",
  }),
  channels: Group('Channel integrations and accounts (4.9, 4.11).', {
    combinations: Choice(
      ['checked', 'any'],
      'Whether provider, type and metadata must match: `domainPrefix` is required for email and refused for SMS.',
    ),
    verified: Flag(true, 'Whether an account on a domain of the platform is verified at once.'),
  }),
  libraryResults: Group('Words in the results of 4.6 that the document does not show (section 3, rule 4).', {
    segment: Word('segment')('`type` of a segment definition.'),
    unsynced: Word('unsynced')('`status` of an item that was removed.'),
    conflict: Word('conflict')('`status` of an item whose id the tenant already uses.'),
  }),
};
