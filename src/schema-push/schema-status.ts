/** Compares a sync's schema definitions with what was pushed from here. */
import { createHash } from 'node:crypto';
import { definitionChanges, type DefinitionChange } from '../domain/records/definition-diff.js';
import type { JsonObject } from '../domain/values/json.js';
import { referencesOf } from '../domain/records/references.js';
import type { SchemaDefinitionFile, SyncSpec } from '../domain/sync/sync.js';
import { stagesOf } from '../mapping/order/stages.js';
import type { PushedSchema } from '../ledger/mappings/schema-ids.js';

/**
 * - `new`: not pushed yet.
 * - `unchanged`: the file is as it was when it was pushed.
 * - `changed`: the file has changed since.
 * - `foreign`: the platform had the name before the first push from here, and its content cannot be queried.
 */
export type Status = 'new' | 'unchanged' | 'changed' | 'foreign';

/** One schema definition of a sync. */
export interface SchemaStatus {
  readonly definition: SchemaDefinitionFile;
  readonly hash: string;
  readonly status: Status;
  readonly platformId: string | null;
  /** What changed since it was pushed; empty if the ledger does not have the content that was pushed. */
  readonly changes: readonly DefinitionChange[];
}

/**
 * The status of each schema definition of the sync, parents before children. `pushed`: what the ledger recorded, by
 * name.
 */
export function schemaStatuses(spec: SyncSpec, pushed: ReadonlyMap<string, PushedSchema>): SchemaStatus[] {
  return parentsFirst(spec.mappings.map((m) => m.schema)).map((definition) => {
    const hash = createHash('sha256').update(JSON.stringify(definition)).digest('hex');
    const known = pushed.get(definition.name);
    const status: Status =
      known === undefined
        ? 'new'
        : known.definitionHash === ''
          ? 'foreign'
          : known.definitionHash === hash
            ? 'unchanged'
            : 'changed';
    const changes =
      status === 'changed' && known?.definition
        ? definitionChanges(known.definition, definition as unknown as JsonObject)
        : [];
    return { definition, hash, status, platformId: known?.platformId ?? null, changes };
  });
}

/** Each definition once, though several mappings may share one. */
function parentsFirst(definitions: readonly SchemaDefinitionFile[]): SchemaDefinitionFile[] {
  const byName = new Map(definitions.map((d) => [d.name, d]));
  const nodes = [...byName.values()].map((d) => ({
    name: d.name,
    refs: referencesOf(d.schema)
      .map((r) => r.schemaName)
      // A definition that refers to itself can be pushed once its other parents exist.
      .filter((r) => r !== d.name && byName.has(r)),
  }));
  // Definitions in a cycle, and those that depend on them, are in no stage; they come last.
  const ordered = new Set([...stagesOf(nodes).flat(), ...byName.keys()]);
  return [...ordered].map((schemaName) => byName.get(schemaName)!);
}
