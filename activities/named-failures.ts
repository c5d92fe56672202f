/** Which records a platform's messages seem to speak of: a hint where to look first, never a proof. */

export interface NamedFailures {
  /** Messages by the external id that they seem to name. */
  readonly byId: ReadonlyMap<string, readonly string[]>;
  /** Messages that name none of the records. */
  readonly nameless: readonly string[];
}

/** In any spelling: in quotes of some kind, or standing alone between blanks and punctuation. */
const QUOTED = /"((?:[^"\\]|\\.)*)"|'([^']*)'|`([^`]*)`/g;
const ALONE = /[^\s"'`,;:()[\]{}<>]+/g;

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

function idsIn(message: string, externalIds: ReadonlySet<string>): string[] {
  // The sandbox's own form; what follows may quote a parent, which is in the batch too where records refer to each other.
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
