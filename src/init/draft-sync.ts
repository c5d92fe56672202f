/** A first sync from what a database says of itself: one mapping a table whose key can name a record. */
import type { Source } from '../domain/source.js';
import type { SourceTable } from '../domain/source-catalog.js';
import { draftMapping } from './draft-mapping.js';
import type { DraftMapping } from './draft.js';
import { tenantColumns } from './guesses.js';
import { mappingName, schemaName, takeName } from './names.js';
import { isMappable, referencesAmong } from './references.js';

export interface DraftSync {
  readonly mappings: readonly DraftMapping[];
  readonly tenantColumns: readonly string[];
  readonly keyless: readonly SourceTable[];
}

/** `zone`: what columns without a time zone are taken to be in. */
export async function draftSync(source: Source, tables: readonly SourceTable[], zone: string): Promise<DraftSync> {
  const keyed = tables.filter(isMappable);
  const { kept, circular } = referencesAmong(keyed);
  const around = {
    names: namesOf(keyed),
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

/** Two schemas may have a table of the same name: then the schema is part of ours. */
function namesOf(tables: readonly SourceTable[]): Map<string, { mapping: string; schema: string }> {
  const mappings = new Set<string>();
  const schemas = new Set<string>();
  return new Map(
    tables.map((table) => {
      const shared = tables.some((o) => o !== table && o.name.toLowerCase() === table.name.toLowerCase());
      const parts = shared && table.schema !== null ? [table.schema, table.name] : [table.name];
      return [
        table.table,
        {
          mapping: takeName(mappings, mappingName(...parts), '-'),
          schema: takeName(schemas, schemaName(...parts), '_'),
        },
      ];
    }),
  );
}
