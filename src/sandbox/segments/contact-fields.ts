/** Which fields of a contact's record are the name, the addresses and the consent that a recipient has (4.7). */
import type { JsonObject } from '../../domain/json.js';
import { wordsOfName } from './word-forms.js';

/** Names of top-level fields, in the order in which they are looked for; compared as words, without case or signs. */
export const CONTACT_FIELDS = {
  firstName: ['firstName', 'givenName', 'forename'],
  lastName: ['lastName', 'familyName', 'surname'],
  email: ['email', 'emailAddress', 'mail'],
  phone: ['phone', 'phoneNumber', 'mobile', 'mobileNumber', 'mobilePhone', 'telephone', 'cell'],
  emailOptOut: ['emailOptedOut', 'emailOptOut', 'optedOutOfEmail', 'unsubscribed', 'optedOut', 'optOut'],
  smsOptOut: ['smsOptedOut', 'smsOptOut', 'optedOutOfSms', 'unsubscribed', 'optedOut', 'optOut'],
  emailOptIn: [
    'emailOptIn',
    'emailOptedIn',
    'emailConsent',
    'marketingOptIn',
    'marketingConsent',
    'subscribed',
    'optIn',
  ],
  smsOptIn: ['smsOptIn', 'smsOptedIn', 'smsConsent', 'marketingOptIn', 'marketingConsent', 'subscribed', 'optIn'],
} as const;

export type ContactField = keyof typeof CONTACT_FIELDS;

const key = (name: string): string => wordsOfName(name).join('');

/** The name of each field in the schema's own spelling; null where it has none. */
export function contactFieldsOf(schema: JsonObject): Readonly<Record<ContactField, string | null>> {
  const declared = new Map(Object.keys((schema['properties'] ?? {}) as JsonObject).map((name) => [key(name), name]));
  const found = Object.entries(CONTACT_FIELDS).map(([field, names]) => [
    field,
    names.map((name) => declared.get(key(name))).find((name) => name !== undefined) ?? null,
  ]);
  return Object.fromEntries(found) as Record<ContactField, string | null>;
}

const holds = (fields: readonly ContactField[]) => (jsonPath: string) =>
  fields.some((field) => CONTACT_FIELDS[field].some((name) => key(name) === key(jsonPath)));

export const isOptIn = holds(['emailOptIn', 'smsOptIn']);
export const isOptOut = holds(['emailOptOut', 'smsOptOut']);
