/** Reads sample rows from several places of a table, to learn from its values what its types do not show. */
import { PartnerSyncError } from '../domain/errors.js';
import type { CatalogColumn, SourceTable } from '../domain/source/source-catalog.js';
import type { KeyRange, ReadPlan, Source, SourceRow } from '../domain/source/source.js';
import { isCountry, isPhone, mayHoldTimes } from './guesses.js';
import { keyOf } from './draft-references.js';

/** The sampled non-NULL values of a column, as text; empty if none were read. */
export type Sample = (column: string) => readonly string[];

/** Rows in a sample, and the number of places in a large table from which they are read. */
const ROWS = 1000;
const PLACES = 10;
/** Binary columns may contain files, so their rows are read in small pages, up to this many characters in all. */
const PAGE_OF_BYTES = 20;
const CHARACTERS = 1024 * 1024;

/** The part of a source that sampling uses. */
type SampledSource = Pick<Source, 'readPage' | 'splitKeys'>;

/**
 * Samples the columns whose values matter. With `dynamic`, values may have other types than their columns, so texts are
 * sampled too. A table that cannot be sampled gives an empty sample.
 */
export async function sampleOf(source: SampledSource, table: SourceTable, dynamic: boolean): Promise<Sample> {
  const named = (wanted: (column: CatalogColumn) => boolean) => table.columns.filter(wanted).map(({ name }) => name);
  const telling = named(
    (column) =>
      /^(integer|decimal)$/.test(column.type) ||
      (dynamic && /^(text|float|timestamp)$/.test(column.type)) ||
      mayHoldTimes(column) ||
      isPhone(column) ||
      isCountry(column),
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
    let rows = 0;
    let characters = 0;
    while (bytes.length > 0 && rows < ROWS && characters < CHARACTERS) {
      const page = await read(source, plan, place, PAGE_OF_BYTES, values);
      const last = page.at(-1);
      if (last === undefined) break;
      for (const row of page) for (const value of row) characters += value?.length ?? 0;
      rows += PAGE_OF_BYTES;
      place = { after: last.slice(0, plan.key.length) as string[], through: null };
    }
  });
  return (column) => values.get(column) ?? [];
}

/** The declared length of a type such as `binary(16)`; null if it has none. */
export function declaredBytes(databaseType: string): number | null {
  const length = /^(?:var)?binary\((\d+)\)$/i.exec(databaseType)?.[1];
  return length === undefined ? null : Number(length);
}

const ALL: KeyRange = { after: null, through: null };

const planOf = (table: SourceTable, names: readonly string[]): ReadPlan => {
  const key = keyOf(table);
  return { relation: { table: table.table }, columns: [...new Set([...key, ...names])], key, cursor: null };
};

/** Key ranges to read from: the whole of a small table, otherwise parts of equal size. */
async function placesOf(
  source: SampledSource,
  { estimatedRows }: SourceTable,
  plan: ReadPlan,
): Promise<readonly KeyRange[]> {
  if (estimatedRows === null || estimatedRows <= ROWS) return [ALL];
  return source.splitKeys(plan, Math.ceil(estimatedRows / PLACES));
}

/** Reads up to `rows` rows of a key range and adds their values to `values`, by column. */
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

/**
 * Errors after which drafting continues with the types alone: a key that is NULL somewhere, or a table too slow to
 * read.
 */
const WITHOUT_SAMPLE: readonly string[] = ['source_key_unusable', 'source_query_failed'];

async function withoutSample(sample: () => Promise<void>): Promise<void> {
  try {
    await sample();
  } catch (error) {
    if (!(error instanceof PartnerSyncError) || !WITHOUT_SAMPLE.includes(error.code)) throw error;
  }
}
