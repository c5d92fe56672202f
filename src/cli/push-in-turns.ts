/** Pushes schema definitions to a platform that may refuse those whose references are not there yet. */
import { referencesOf, type SchemaReference } from '../domain/references.js';
import type { SchemaDefinitionFile } from '../domain/sync.js';
import { PlatformRefused, PlatformTooLarge, type PlatformError } from '../platform/error.js';

export interface RefusedDefinition {
  readonly definition: SchemaDefinitionFile;
  readonly error: PlatformError;
  /** Its references to definitions that were not on the platform when it was refused. */
  readonly missing: readonly SchemaReference[];
}

/**
 * Always the one next that misses least, so parents come before children, and one of a circle goes first where the
 * platform lets it. A refused one is tried again each time that a definition it refers to has come, and holds up nobody else.
 *
 * @param there names of definitions that the platform has already
 */
export async function pushInTurns(
  definitions: readonly SchemaDefinitionFile[],
  there: Iterable<string>,
  push: (definition: SchemaDefinitionFile) => Promise<void>,
): Promise<RefusedDefinition[]> {
  const present = new Set(there);
  const open = new Set(definitions);
  const refused = new Map<SchemaDefinitionFile, RefusedDefinition>();
  const missingOf = ({ name, schema }: SchemaDefinitionFile): SchemaReference[] =>
    referencesOf(schema).filter(({ schemaName }) => schemaName !== name && !present.has(schemaName));
  for (;;) {
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
