/** Settings of segments, reports, channels and the library. */
import { Type } from 'typebox';
import { SCHEMA_CATEGORIES } from '../../domain/sync.js';
import { Choice, Flag, Group, Texts } from './group.js';

const Word = (standard: string) => (description: string) =>
  Type.String({ minLength: 1, default: standard, description });

export const MESSAGING = {
  contactCategories: Type.Array(Type.Enum([...SCHEMA_CATEGORIES]), {
    default: ['contacts_schema'],
    minItems: 1,
    description: 'Categories of the schema definitions whose records are people (4.2, 4.7).',
  }),
  contactFields: Group(
    "Names of the fields that are a recipient's (4.7), in the order in which they are looked for, whatever their spelling.",
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
        'True: opted out of emails.',
      ),
      smsOptOut: Texts(
        ['smsOptedOut', 'smsOptOut', 'optedOutOfSms', 'unsubscribed', 'optedOut', 'optOut'],
        'True: opted out of text messages.',
      ),
      emailOptIn: Texts(
        ['emailOptIn', 'emailOptedIn', 'emailConsent', 'marketingOptIn', 'marketingConsent', 'subscribed', 'optIn'],
        'False: opted out of emails.',
      ),
      smsOptIn: Texts(
        ['smsOptIn', 'smsOptedIn', 'smsConsent', 'marketingOptIn', 'marketingConsent', 'subscribed', 'optIn'],
        'False: opted out of text messages.',
      ),
    },
  ),
  counting: Group('Whom a count (4.7) chooses.', {
    withoutSegments: Choice(['everybody', 'nobody'], 'Where no segment is included.'),
    included: Choice(['any', 'all'], 'Of several included segments, any must hold or all.'),
    excluded: Choice(['any', 'all'], 'Of several excluded segments, any takes people away or all together.'),
    automation: Choice(
      ['added', 'alone'],
      'Segments of `automationId` come to those of the body, or take their place.',
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
      'A tenant that has sent, but not within the range, and is there for no other reason.',
    ),
  }),
  voice: Group('What 4.16 lists.', {
    tenants: Choice(['with_calls', 'all'], 'Tenants that had a call in the range, or all.'),
  }),
  mailDomain: Type.String({
    pattern: '^[a-z0-9-]+(\\.[a-z0-9-]+)+$',
    default: 'mail.sandbox.example',
    description: "The platform's own mail domain: DNS records point to it, channel accounts live below it.",
  }),
  channels: Group('Channel integrations and accounts (4.9, 4.11).', {
    combinations: Choice(
      ['checked', 'any'],
      'Whether provider, type and metadata must go together: `domainPrefix` on email only, and there always.',
    ),
    verified: Flag(true, 'Whether an account on a domain of the platform is verified at once.'),
  }),
  libraryWords: Group('Words in the results of 4.6 that the document does not show (section 3, rule 4).', {
    segment: Word('segment')('`type` of a segment definition.'),
    unsynced: Word('unsynced')('`status` of an item that was taken away.'),
    conflict: Word('conflict')('`status` of an item whose id something of the tenant has.'),
  }),
};
