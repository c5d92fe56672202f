/**
 * The order in which schema definitions are pushed, to a platform that may reject those whose references do not exist
 * yet.
 */
import { referencesOf, type SchemaReference } from '../domain/records/references.js';
import type { SchemaDefinitionFile } from '../domain/sync/sync.js';
import { PlatformRefused, PlatformTooLarge, type PlatformError } from '../platform/error.js';

/** A definition that the platform rejected, by the last attempt. */
export interface RefusedDefinition {
  readonly definition: SchemaDefinitionFile;
  readonly error: PlatformError;
  /** Its references to definitions that were not on the platform when it was refused. */
  readonly missing: readonly SchemaReference[];
}

/**
 * Pushes all definitions with `push` and returns those that were rejected, in the given order.
 *
 * The next one is always the one with the fewest missing references, so parents come before children, and one of a
 * cycle goes first if the platform allows that. A rejected definition is tried again each time that a definition it
 * refers to has been created, and holds up no other.
 *
 * @param there names of definitions that the platform has already
 *
 * @throws whatever `push` throws, unless it is a rejection of this one definition
 */
export async function pushInOrder(
  definitions: readonly SchemaDefinitionFile[],
  there: Iterable<string>,
  push: (definition: SchemaDefinitionFile) => Promise<void>,
): Promise<RefusedDefinition[]> {
  const present = new Set(there);
  const open = new Set(definitions);
  const refused = new Map<SchemaDefinitionFile, RefusedDefinition>();
  const missingOf = ({ name, schema }: SchemaDefinitionFile): SchemaReference[] =>
    referencesOf(schema).filter(({ schemaName }) => schemaName !== name && !present.has(schemaName));
  while (true) {
    const [next] = [...open].sort((a, b) => missingOf(a).length - missingOf(b).length);
    if (next === undefined) return definitions.flatMap((definition) => refused.get(definition) ?? []);
    open.delete(next);
    refused.delete(next);
    try {
      await push(next);
      present.add(next.name);
      for (const { definition, missing } of refused.values())
        if (missing.some(({ schemaName }) => schemaName === next.name)) open.add(definition);
    } catch (error) {
      if (!(error instanceof PlatformRefused || error instanceof PlatformTooLarge)) throw error;
      refused.set(next, { definition: next, error, missing: missingOf(next) });
    }
  }
}
