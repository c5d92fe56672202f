/** Which records the platform's messages seem to be about: a hint where to look first, never a proof. */

export interface NamedFailures {
  /** Messages, by the external id that they seem to name. */
  readonly byId: ReadonlyMap<string, readonly string[]>;
  /** Messages that name none of the records. */
  readonly nameless: readonly string[];
}

/** An id may be in quotes of any kind, or stand alone between blanks and punctuation. */
const QUOTED = /"((?:[^"\\]|\\.)*)"|'([^']*)'|`([^`]*)`/g;
const ALONE = /[^\s"'`,;:()[\]{}<>]+/g;

/** Searches the messages for the external ids. */
export function namedFailures(messages: readonly string[], externalIds: ReadonlySet<string>): NamedFailures {
  const byId = new Map<string, string[]>();
  const nameless: string[] = [];
  for (const message of messages) {
    const ids = idsIn(message, externalIds);
    if (ids.length === 0) nameless.push(message);
    for (const id of ids) {
      const same = byId.get(id);
      if (same === undefined) byId.set(id, [message]);
      else same.push(message);
    }
  }
  return { byId, nameless };
}

/**
 * What the platform may have said about a record: the messages that name it, else those that name no record, else all.
 * A message counts for every record that it may mean, since a number in it may happen to be another record's id.
 */
export function messageAbout(externalId: string, { byId, nameless }: NamedFailures): string {
  const messages = byId.get(externalId) ?? (nameless.length > 0 ? nameless : [...byId.values()].flat());
  return [...new Set(messages)].slice(0, 5).join('; or ');
}

function idsIn(message: string, externalIds: ReadonlySet<string>): string[] {
  // The sandbox's form. The rest of such a message may quote a parent, which may be in the same batch.
  const first = /^externalId ("(?:[^"\\]|\\.)*")/.exec(message)?.[1];
  const own = first === undefined ? undefined : unquoted(first);
  if (own !== undefined && externalIds.has(own)) return [own];
  const pieces = [...message.matchAll(QUOTED)].map(([, double, single, tick]) =>
    double === undefined ? (single ?? tick ?? '') : (unquoted(`"${double}"`) ?? double),
  );
  const words = [...message.matchAll(ALONE)].map(([word]) => word.replace(/[.!?]+$/, ''));
  return [...new Set([...pieces, ...words])].filter((piece) => externalIds.has(piece));
}

function unquoted(text: string): string | undefined {
  try {
    return JSON.parse(text) as string;
  } catch {
    return undefined;
  }
}
