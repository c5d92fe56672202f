/** A first sync from what a database says of itself: one mapping a table whose key can name a record. */
import type { Source } from '../domain/source.js';
import type { SourceTable } from '../domain/source-catalog.js';
import { draftMapping } from './draft-mapping.js';
import type { DraftMapping, ZoneGuess } from './draft.js';
import { tenantColumns } from './guesses.js';
import { mappingName, pluralName, schemaName, takeName, type TableNames } from './names.js';
import { isMappable, referencesAmong } from './references.js';
import { sampleOf, type Sample } from './sample.js';

export interface DraftSync {
  readonly mappings: readonly DraftMapping[];
  readonly tenantColumns: readonly string[];
  readonly keyless: readonly SourceTable[];
}

export interface DraftWishes {
  /** The sync's name. */
  readonly name: string;
  readonly tables: readonly SourceTable[];
  readonly zone: ZoneGuess;
  /** Whether values may be of other types than their columns, as SQLite's. */
  readonly dynamic: boolean;
  /** Names of schema definitions that other syncs have taken, and which sync: the platform knows each name once. */
  readonly taken: ReadonlyMap<string, string>;
}

export async function draftSync(source: Source, wishes: DraftWishes): Promise<DraftSync> {
  const { name, tables, zone, dynamic, taken } = wishes;
  const keyed = tables.filter(isMappable);
  const { kept, circular } = referencesAmong(keyed);
  const samples = new Map<string, Sample>();
  for (const table of keyed) samples.set(table.table, await sampleOf(source, table, dynamic));
  const around = {
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
  for (const table of keyed) mappings.push(await draftMapping(table, around));
  return {
    mappings,
    tenantColumns: tenantColumns(keyed),
    keyless: tables.filter((table) => !isMappable(table)),
  };
}

/** Two schemas of the database may have a table of the same name: then the schema's is part of ours. */
function namesOf(
  tables: readonly SourceTable[],
  sync: string,
  taken: ReadonlyMap<string, string>,
): Map<string, TableNames> {
  const mappings = new Set<string>();
  const schemas = new Set<string>();
  return new Map(
    tables.map((table) => {
      const shared = tables.some((o) => o !== table && o.name.toLowerCase() === table.name.toLowerCase());
      const parts = shared && table.schema !== null ? [table.schema, table.name] : [table.name];
      const own = schemaName(...parts);
      const holder = taken.get(own);
      const names = holder === undefined ? parts : [sync, ...parts];
      return [
        table.table,
        {
          mapping: takeName(mappings, mappingName(...parts), '-'),
          schema: takeName(schemas, schemaName(...names), '_'),
          plural: pluralName(...names),
          comment:
            holder === undefined
              ? null
              : `The sync ${holder} has a schema definition ${own} already, and the platform knows each name once.`,
        },
      ];
    }),
  );
}
