/** Some rows of a table, from several places: what its values say that its types do not. */
import { PartnerSyncError } from '../domain/errors.js';
import type { CatalogColumn, SourceTable } from '../domain/source-catalog.js';
import type { KeyRange, ReadPlan, Source, SourceRow } from '../domain/source.js';
import { keyOf } from './references.js';

/** Values of a column that are no NULL; empty where none were looked at. */
export type Sample = (column: string) => readonly string[];

/** Rows of a sample, and places of a large table that they are read in. */
const ROWS = 1000;
const PLACES = 10;
/** Bytes may be files: their rows are read in small pages, until there are so many characters of them. */
const PAGE_OF_BYTES = 20;
const CHARACTERS = 1024 * 1024;

type SampledSource = Pick<Source, 'readPage' | 'splitKeys'>;

/** `dynamic`: values may be of other types than their columns, so that texts are looked at too. */
export async function sampleOf(source: SampledSource, table: SourceTable, dynamic: boolean): Promise<Sample> {
  const named = (wanted: (column: CatalogColumn) => boolean) => table.columns.filter(wanted).map(({ name }) => name);
  const telling = named(
    ({ type }) => /^(integer|decimal)$/.test(type) || (dynamic && /^(text|float|timestamp)$/.test(type)),
  );
  const bytes = named(({ type, databaseType }) => type === 'bytes' && declaredBytes(databaseType) === null);
  const values = new Map<string, string[]>();
  await withoutSample(async () => {
    const plan = planOf(table, telling);
    const places = telling.length === 0 ? [] : await placesOf(source, table, plan);
    for (const place of places) await read(source, plan, place, Math.ceil(ROWS / places.length), values);
  });
  await withoutSample(async () => {
    const plan = planOf(table, bytes);
    let place = ALL;
    for (
      let rows = 0, characters = 0;
      bytes.length > 0 && rows < ROWS && characters < CHARACTERS;
      rows += PAGE_OF_BYTES
    ) {
      const page = await read(source, plan, place, PAGE_OF_BYTES, values);
      const last = page.at(-1);
      if (last === undefined) break;
      for (const row of page) for (const value of row) characters += value?.length ?? 0;
      place = { after: last.slice(0, plan.key.length) as string[], through: null };
    }
  });
  return (column) => values.get(column) ?? [];
}

/** The length of `binary(16)`; null where the type has none. */
export function declaredBytes(databaseType: string): number | null {
  const length = /^(?:var)?binary\((\d+)\)$/i.exec(databaseType)?.[1];
  return length === undefined ? null : Number(length);
}

const ALL: KeyRange = { after: null, through: null };

const planOf = (table: SourceTable, names: readonly string[]): ReadPlan => {
  const key = keyOf(table);
  return { relation: { table: table.table }, columns: [...new Set([...key, ...names])], key, cursor: null };
};

async function placesOf(
  source: SampledSource,
  { estimatedRows }: SourceTable,
  plan: ReadPlan,
): Promise<readonly KeyRange[]> {
  if (estimatedRows === null || estimatedRows <= ROWS) return [ALL];
  return source.splitKeys(plan, Math.ceil(estimatedRows / PLACES));
}

async function read(
  source: SampledSource,
  plan: ReadPlan,
  { after, through }: KeyRange,
  rows: number,
  values: Map<string, string[]>,
): Promise<readonly SourceRow[]> {
  const bounds = { after: after && { cursor: null, key: after }, throughKey: through };
  const page = await source.readPage(plan, { ...bounds, cursorFrom: null, cursorBefore: null }, rows);
  for (const [index, name] of plan.columns.entries()) {
    const found = values.get(name) ?? [];
    for (const row of page.rows) if (row[index] != null) found.push(row[index]);
    values.set(name, found);
  }
  return [...page.rows];
}

/** A key that is NULL somewhere, or a table too slow to be read: the types of its columns have to do. */
const WITHOUT_SAMPLE: readonly string[] = ['source_key_unusable', 'source_query_failed'];

async function withoutSample(look: () => Promise<void>): Promise<void> {
  try {
    await look();
  } catch (error) {
    if (!(error instanceof PartnerSyncError) || !WITHOUT_SAMPLE.includes(error.code)) throw error;
  }
}
