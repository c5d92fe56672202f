/**
 * Which records the platform's messages seem to be about: a hint where to look first, never a proof. A message may be as long
 * as a response, so each of them is searched in time that is proportional to its length.
 */
import { foreignWords } from '../../domain/values/foreign-text.js';

export interface NamedFailures {
  /** Messages, by the external id that they seem to name. */
  readonly byId: ReadonlyMap<string, readonly string[]>;
  /** Messages that name none of the records. */
  readonly nameless: readonly string[];
  /** Each message once. */
  readonly all: readonly string[];
}

/**
 * An id may be in quotes of any kind, or stand alone between blanks and punctuation. No quote begins at an escaped one: if
 * the first has no end, each of these would be searched for another one, up to the end of the message.
 */
const QUOTED = /(?<!\\)"((?:[^"\\]|\\[^])*)"|'([^']*)'|`([^`]*)`/g;
const ALONE = /[^\s"'`,;:()[\]{}<>]+/g;
const END_OF_SENTENCE = /(?<![.!?])[.!?]+$/;

/** Searches the messages for the external ids. */
export function namedFailures(messages: readonly string[], externalIds: ReadonlySet<string>): NamedFailures {
  const byId = new Map<string, string[]>();
  const nameless: string[] = [];
  const all = [...new Set(messages)];
  for (const message of all) {
    const ids = idsIn(message, externalIds);
    if (ids.length === 0) nameless.push(message);
    for (const id of ids) {
      const same = byId.get(id);
      if (same === undefined) byId.set(id, [message]);
      else same.push(message);
    }
  }
  return { byId, nameless, all };
}

/**
 * What the platform may have said about a record: the messages that name it, else those that name no record, else all.
 * A message counts for every record that it may mean, since a number in it may happen to be another record's id.
 */
export function messageAbout(externalId: string, { byId, nameless, all }: NamedFailures): string {
  const messages = byId.get(externalId) ?? (nameless.length > 0 ? nameless : all);
  return messages
    .slice(0, 5)
    .map((message) => foreignWords(message, LONGEST_MESSAGE))
    .join('; or ');
}

/** Characters of one message: a dead letter keeps a thousand altogether. */
const LONGEST_MESSAGE = 500;

function idsIn(message: string, externalIds: ReadonlySet<string>): string[] {
  // The sandbox's form. The rest of such a message may quote a parent, which may be in the same batch.
  const first = /^externalId ("(?:[^"\\]|\\.)*")/.exec(message)?.[1];
  const own = first === undefined ? undefined : unquoted(first);
  if (own !== undefined && externalIds.has(own)) return [own];
  const pieces = [...message.matchAll(QUOTED)].map(([, double, single, tick]) =>
    double === undefined ? (single ?? tick ?? '') : (unquoted(`"${double}"`) ?? double),
  );
  const words = [...message.matchAll(ALONE)].map(([word]) => word.replace(END_OF_SENTENCE, ''));
  return [...new Set([...pieces, ...words])].filter((piece) => externalIds.has(piece));
}

function unquoted(text: string): string | undefined {
  try {
    return JSON.parse(text) as string;
  } catch {
    return undefined;
  }
}
