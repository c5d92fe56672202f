/** Finds the rows behind external ids: by the column that holds the id, or the columns of the template that makes it. */
import { PartnerSyncError } from '../src/domain/errors.js';
import type { MapResult } from '../src/domain/record.js';
import type { Page, SourceKey } from '../src/domain/source.js';
import type { MappingSpec } from '../src/domain/sync.js';
import { parseTemplate, type TemplatePart } from '../src/mapping/template.js';
import type { OpenMapping, OpenSync } from './dependencies.js';

export interface FoundRows {
  readonly page: Page;
  /** What the mapping makes of the rows; only those that give one of the ids. */
  readonly results: readonly MapResult[];
  /** Whether an id that was not found has no row; transforms may hide one from a look-up by value. */
  readonly certain: boolean;
}

/** How an external id is looked up: columns, and the values that they may have for an id. */
interface LookUp {
  readonly columns: readonly string[];
  readonly values: (id: string) => readonly SourceKey[];
  readonly certain: boolean;
}

/** More ways than this to cut an id into a template's columns are not tried. */
const MOST_CUTS = 50;
const NO_ROWS: Page = { columns: [], rows: [] };

export async function findRows(sync: OpenSync, mapping: OpenMapping, ids: readonly string[]): Promise<FoundRows> {
  const how = lookUpOf(mapping.spec);
  const values = how === null ? [] : [...new Set(ids)].flatMap(how.values);
  if (how === null || values.length === 0) return { page: NO_ROWS, results: [], certain: how?.certain ?? false };
  const found = await readWhatFits(sync, mapping, how.columns, values);
  const wanted = new Set(ids);
  const keys = mapping.plan.key.map((column) => mapping.plan.columns.indexOf(column));
  const rows: Page['rows'][number][] = [];
  const results: MapResult[] = [];
  const map = found.rows.length === 0 ? null : mapping.mapper(found.columns);
  for (const row of found.rows) {
    const result = map!(
      row,
      keys.map((i) => row[i]!),
    );
    if (result.externalId === null || !wanted.has(result.externalId)) continue;
    rows.push(row);
    results.push(result);
  }
  return { page: { columns: found.columns, rows }, results, certain: how.certain };
}

function lookUpOf({ fields, schema }: MappingSpec): LookUp | null {
  const field = fields.get(schema.externalIdField);
  if (field?.kind === 'column')
    return { columns: [field.column], values: (id) => [[id]], certain: field.transforms.length === 0 };
  if (field?.kind !== 'template') return null;
  const parsed = parseTemplate(field.template);
  if ('problem' in parsed) return null;
  const columns = parsed.parts.flatMap((part) => (part.kind === 'column' ? [part.column] : []));
  return { columns, values: (id) => cuts(parsed.parts, id), certain: field.transforms.length === 0 };
}

/** The ways in which a template can have made the id: `a-b-1` by `{x}-{y}` is `a, b-1` or `a-b, 1`. */
function cuts(parts: readonly TemplatePart[], id: string): SourceKey[] {
  const [part, ...rest] = parts;
  if (part === undefined) return id === '' ? [[]] : [];
  if (part.kind === 'text') return id.startsWith(part.text) ? cuts(rest, id.slice(part.text.length)) : [];
  if (rest.length === 0) return [[id]];
  const found: SourceKey[] = [];
  for (let end = 0; end <= id.length && found.length < MOST_CUTS; end++)
    for (const tail of cuts(rest, id.slice(end))) found.push([id.slice(0, end), ...tail]);
  return found;
}

/** A value that its column cannot hold (`abc` among integers) has no row; it must not hide the rows of the others. */
async function readWhatFits(
  sync: OpenSync,
  mapping: OpenMapping,
  columns: readonly string[],
  values: readonly SourceKey[],
): Promise<Page> {
  try {
    return await sync.source.readByValues(mapping.plan, columns, values);
  } catch (error) {
    if (!(error instanceof PartnerSyncError) || error.details['unfitValue'] !== true) throw error;
    if (values.length === 1) return NO_ROWS;
    const middle = values.length >> 1;
    const halves = [values.slice(0, middle), values.slice(middle)];
    const [a, b] = await Promise.all(halves.map((half) => readWhatFits(sync, mapping, columns, half)));
    return { columns: a!.columns.length > 0 ? a!.columns : b!.columns, rows: [...a!.rows, ...b!.rows] };
  }
}
