/** Which fields of a contact's record are the name, the addresses and the consent that a recipient has (4.7). */
import type { JsonObject } from '../../domain/json.js';
import type { SandboxSettings } from '../settings.js';
import { wordsOfName } from './word-forms.js';

/** Names of top-level fields, in the order in which they are looked for; compared as words, without case or signs. */
export type ContactNames = SandboxSettings['contactFields'];
export type ContactField = keyof ContactNames;

const key = (name: string): string => wordsOfName(name).join('');

/** The name of each field in the schema's own spelling; null where it has none. */
export function contactFieldsOf(
  schema: JsonObject,
  names: ContactNames,
): Readonly<Record<ContactField, string | null>> {
  const declared = new Map(Object.keys((schema['properties'] ?? {}) as JsonObject).map((name) => [key(name), name]));
  const found = Object.entries(names).map(([field, known]) => [
    field,
    known.map((name) => declared.get(key(name))).find((name) => name !== undefined) ?? null,
  ]);
  return Object.fromEntries(found) as Record<ContactField, string | null>;
}

/** Whether a field says that somebody agreed to messages (`in`), or refused them (`out`). */
export function consentOf(jsonPath: string, names: ContactNames): 'in' | 'out' | undefined {
  const holds = (...known: readonly (readonly string[])[]) => known.flat().some((name) => key(name) === key(jsonPath));
  if (holds(names.emailOptIn, names.smsOptIn)) return 'in';
  return holds(names.emailOptOut, names.smsOptOut) ? 'out' : undefined;
}
