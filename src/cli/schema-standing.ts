/** How a sync's schema definitions stand to what was pushed, parents before children. */
import { createHash } from 'node:crypto';
import { definitionChanges, type DefinitionChange } from '../domain/definition-diff.js';
import type { JsonObject } from '../domain/json.js';
import { referencesOf } from '../domain/references.js';
import type { SchemaDefinitionFile, SyncSpec } from '../domain/sync.js';
import { stagesOf } from '../mapping/stages.js';
import type { PushedSchema } from '../state/schema-ids.js';

/**
 * - `new`: not pushed yet; `unchanged`: as it was pushed; `changed`: the file says something else now;
 * - `foreign`: it was on the platform before us, and what it says there cannot be asked.
 */
export type Standing = 'new' | 'unchanged' | 'changed' | 'foreign';

export interface SchemaStanding {
  readonly definition: SchemaDefinitionFile;
  readonly hash: string;
  readonly standing: Standing;
  readonly platformId: string | null;
  /** Empty for a change whose earlier text was not kept. */
  readonly changes: readonly DefinitionChange[];
}

export function schemaStandings(spec: SyncSpec, pushed: ReadonlyMap<string, PushedSchema>): SchemaStanding[] {
  return parentsFirst(spec.mappings.map((m) => m.schema)).map((definition) => {
    const hash = createHash('sha256').update(JSON.stringify(definition)).digest('hex');
    const known = pushed.get(definition.name);
    const standing: Standing =
      known === undefined
        ? 'new'
        : known.definitionHash === ''
          ? 'foreign'
          : known.definitionHash === hash
            ? 'unchanged'
            : 'changed';
    const changes =
      standing === 'changed' && known?.definition
        ? definitionChanges(known.definition, definition as unknown as JsonObject)
        : [];
    return { definition, hash, standing, platformId: known?.platformId ?? null, changes };
  });
}

function parentsFirst(definitions: readonly SchemaDefinitionFile[]): SchemaDefinitionFile[] {
  const byName = new Map(definitions.map((d) => [d.name, d]));
  const nodes = [...byName.values()].map((d) => ({
    name: d.name,
    refs: referencesOf(d.schema)
      .map((r) => r.schemaName)
      // One that refers to itself can be pushed as soon as its other parents are there.
      .filter((r) => r !== d.name && byName.has(r)),
  }));
  // Definitions that refer to each other in a circle, and those behind them, have no order.
  const ordered = new Set([...stagesOf(nodes).flat(), ...byName.keys()]);
  return [...ordered].map((schemaName) => byName.get(schemaName)!);
}
