/** Drafts a first sync from a database's catalog: one mapping for each table whose key can identify a record. */
import type { Source } from '../domain/source/source.js';
import type { SourceTable } from '../domain/source/source-catalog.js';
import { draftMapping } from './draft-mapping.js';
import type { DraftMapping, ZoneGuess } from './draft.js';
import { tenantColumns } from './guesses.js';
import { mappingName, pluralName, schemaName, takeName, type TableNames } from './draft-names.js';
import { isMappable, referencesAmong } from './draft-references.js';
import { sampleOf, type Sample } from './sample.js';

/** A drafted sync, before it is written to files. */
export interface DraftSync {
  readonly mappings: readonly DraftMapping[];
  /** Columns that every table has and that seem to name a tenant. */
  readonly tenantColumns: readonly string[];
  /** Tables without a usable key, which get no mapping. */
  readonly keyless: readonly SourceTable[];
}

/** What to draft. */
export interface DraftInput {
  /** The sync's name. */
  readonly name: string;
  readonly tables: readonly SourceTable[];
  readonly zone: ZoneGuess;
  /** Whether values may have other types than their columns, as in SQLite. */
  readonly dynamic: boolean;
  /**
   * Names of schema definitions that other syncs use, with the sync that uses each: names are unique on the platform
   * (4.4).
   */
  readonly taken: ReadonlyMap<string, string>;
}

/** Reads samples of the tables and drafts their mappings. Only reads from the source. */
export async function draftSync(source: Source, input: DraftInput): Promise<DraftSync> {
  const { name, tables, zone, dynamic, taken } = input;
  const keyed = tables.filter(isMappable);
  const { kept, circular } = referencesAmong(keyed);
  const samples = new Map<string, Sample>();
  for (const table of keyed) samples.set(table.table, await sampleOf(source, table, dynamic));
  const context = {
    tables: new Map(keyed.map((table) => [table.table, table])),
    samples,
    dynamic,
    names: namesOf(keyed, name, taken),
    references: kept,
    circular,
    zone,
    hasNull: ({ table }: SourceTable, column: string) =>
      source.hasNull({ relation: { table }, columns: [column], key: [], cursor: null }, column),
  };
  const mappings: DraftMapping[] = [];
  for (const table of keyed) mappings.push(await draftMapping(table, context));
  return {
    mappings,
    tenantColumns: tenantColumns(keyed),
    keyless: tables.filter((table) => !isMappable(table)),
  };
}

/**
 * The names of mappings and schemas, by table. A table name that two database schemas share gets the schema as a
 * prefix; a name that another sync uses gets the sync's.
 */
function namesOf(
  tables: readonly SourceTable[],
  sync: string,
  taken: ReadonlyMap<string, string>,
): Map<string, TableNames> {
  const mappings = new Set<string>();
  const schemas = new Set<string>();
  return new Map(
    tables.map((table) => {
      const shared = tables.some((t) => t !== table && t.name.toLowerCase() === table.name.toLowerCase());
      const parts = shared && table.schema !== null ? [table.schema, table.name] : [table.name];
      const own = schemaName(...parts);
      const other = taken.get(own);
      const names = other === undefined ? parts : [sync, ...parts];
      return [
        table.table,
        {
          mapping: takeName(mappings, mappingName(...parts), '-'),
          schema: takeName(schemas, schemaName(...names), '_'),
          plural: pluralName(...names),
          comment:
            other === undefined
              ? null
              : `The sync ${other} already has a schema definition ${own}, and each name is unique on the platform.`,
        },
      ];
    }),
  );
}
