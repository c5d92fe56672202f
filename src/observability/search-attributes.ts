/** Looks up and registers the search attributes of runs in a Temporal namespace. */
import type { Client, Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../domain/run/search-attributes.js';

/** Temporal's numbers of the types (`IndexedValueType` of its API). */
const TYPE_NUMBERS = { Keyword: 2, Int: 3 } as const;

/** Which of the attributes the client's namespace has. */
export interface AttributeStates {
  readonly registered: readonly string[];
  readonly missing: readonly string[];
  /** Those that exist with another type: they cannot be used, nor registered under their name. */
  readonly mistyped: readonly string[];
}

/** Asks the server. Rejects if it does not answer, or if the client's account may not ask. */
export async function attributeStates(client: Client): Promise<AttributeStates> {
  const { namespace } = client.options;
  const { customAttributes } = await operatorService(client).listSearchAttributes({ namespace });
  const types = (customAttributes ?? {}) as Readonly<Record<string, number | undefined>>;
  const names = Object.keys(SEARCH_ATTRIBUTES);
  const isRight = (name: string): boolean => types[name] === TYPE_NUMBERS[SEARCH_ATTRIBUTES[name]!];
  return {
    registered: names.filter(isRight),
    missing: names.filter((name) => types[name] === undefined),
    mistyped: names.filter((name) => types[name] !== undefined && !isRight(name)),
  };
}

/**
 * The attributes that may be set; none if the server cannot be asked, since runs do without them. `warn` is told what cannot be
 * set, why, and what to do about it.
 */
export async function usableAttributes(
  client: Client,
  warn: (message: string) => void = () => undefined,
): Promise<readonly string[]> {
  const { namespace } = client.options;
  try {
    const { registered, missing, mistyped } = await attributeStates(client);
    const unusable = [...missing, ...mistyped];
    if (unusable.length > 0)
      warn(
        `runs go without the search attributes ${unusable.join(', ')}, which the namespace ${namespace} lacks: ${REMEDY}`,
      );
    return registered;
  } catch (error) {
    const why = error instanceof Error ? error.name : 'unknown error';
    warn(`a run goes without search attributes: Temporal did not say which ones ${namespace} has (${why}): ${REMEDY}`);
    return [];
  }
}

const REMEDY = 'partner-sync doctor says what to do, and doctor --fix registers them';

/**
 * Registers attributes. Rejects if the client's account may not: Temporal Cloud has its own tools for it. It takes
 * effect within seconds.
 */
export async function registerAttributes(client: Client, names: readonly string[]): Promise<void> {
  await operatorService(client).addSearchAttributes({
    namespace: client.options.namespace,
    searchAttributes: Object.fromEntries(names.map((name) => [name, TYPE_NUMBERS[SEARCH_ATTRIBUTES[name]!]])),
  });
}

/** Every connection has it, a worker's as well; the type that a client declares for its connection does not say so. */
const operatorService = (client: Client): Connection['operatorService'] =>
  (client.connection as Connection).operatorService;
