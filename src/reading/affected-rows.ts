/** From changed rows of the tables that a mapping names to the keys of its own rows. */
import { PartnerSyncError } from '../domain/errors.js';
import type { ReadPlan, RowPosition, Source, SourceColumn, SourceKey } from '../domain/source/source.js';
import { isOwnTable, type ChangedBy, type MappingSpec } from '../domain/sync/sync.js';
import { EVERYTHING } from './read-bounds.js';
import { LOOK_UP_ROWS } from './read-rows-by-values.js';
import { keyIn } from './reading-order.js';

/** Keys that are read at once: as many as one statement of the ledger takes well. */
const KEYS = 2000;

/** How changes of a table lead to keys of a mapping. */
export interface AffectedRows {
  /** Columns of the table, whose values the feed reports. */
  readonly columns: readonly string[];
  /** Where the keys are found by these values; null if the values are the key, in this order. */
  readonly through: { readonly plan: ReadPlan; readonly by: readonly string[]; readonly keyParts: number } | null;
}

/** Reads nothing. */
export function affectedRows({ columns, through }: ChangedBy, key: readonly string[]): AffectedRows {
  if (through === null)
    return { columns: key.map((part) => columns.find(({ equals }) => equals === part)!.name), through };
  const by = columns.map(({ equals }) => equals);
  const read = [...new Set([...key, ...by])];
  return {
    columns: columns.map(({ name }) => name),
    through: {
      plan: { relation: through, columns: read, key: read, cursor: null, distinct: true },
      by,
      keyParts: key.length,
    },
  };
}

/**
 * The keys that are found by these values, as they are now, some at a time, a key possibly several times. A value that its column
 * cannot hold has none.
 */
export async function* keysThrough(
  source: Pick<Source, 'readPage'>,
  through: NonNullable<AffectedRows['through']>,
  values: readonly SourceKey[],
  signal: AbortSignal,
): AsyncGenerator<readonly SourceKey[]> {
  const distinct = [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
  for (let i = 0; i < distinct.length; i += LOOK_UP_ROWS)
    yield* keysOf(source, through, distinct.slice(i, i + LOOK_UP_ROWS), signal);
}

async function* keysOf(
  source: Pick<Source, 'readPage'>,
  through: NonNullable<AffectedRows['through']>,
  values: readonly SourceKey[],
  signal: AbortSignal,
): AsyncGenerator<readonly SourceKey[]> {
  const { plan, by: columns, keyParts } = through;
  const positionOf = keyIn(plan);
  let after: RowPosition | null = null;
  try {
    while (true) {
      signal.throwIfAborted();
      const bounds = { ...EVERYTHING, after, whereIn: { columns, values } };
      const { rows } = await source.readPage(plan, bounds, KEYS);
      const last = rows.at(-1);
      if (last === undefined) return;
      yield Array.from(rows, (row) => positionOf(row).slice(0, keyParts));
      after = { cursor: null, key: positionOf(last) };
    }
  } catch (error) {
    if (!(error instanceof PartnerSyncError) || error.details['unfitValue'] !== true) throw error;
    if (values.length === 1) return;
    const middle = values.length >> 1;
    for (const half of [values.slice(0, middle), values.slice(middle)]) yield* keysOf(source, through, half, signal);
  }
}

/** What keeps changes of a table from leading to the right rows. */
export interface ChangedByProblem {
  readonly table: string;
  readonly kind: 'changes_table' | 'column_missing' | 'changes_key';
  readonly message: string;
}

/** Compares what `changes.tables` says with the columns of the source. */
export async function changedByProblems(
  source: Pick<Source, 'describe'>,
  { relation, key, changedBy }: Pick<MappingSpec, 'relation' | 'key' | 'changedBy'>,
): Promise<ChangedByProblem[]> {
  const problems: ChangedByProblem[] = [];
  for (const { table, columns, through } of changedBy) {
    // Its own columns are checked as those of the mapping.
    if (through === null && isOwnTable({ relation }, table)) continue;
    const report = (kind: ChangedByProblem['kind'], message: string): void =>
      void problems.push({ table, kind, message });
    const ofTable = await columnsOf(source, { table });
    if (ofTable === null) {
      report('changes_table', `there is no table ${table}, or none that this account can see`);
      continue;
    }
    const found = await columnsOf(source, through ?? relation);
    if (found === null) {
      // What the mapping itself reads is checked as such.
      if (through !== null)
        report('changes_table', `${nameOf(through)} of ${table} does not exist, or this account cannot see it`);
      continue;
    }
    const lacking = (through === null ? [] : key).filter((name) => !found.has(name));
    if (lacking.length > 0)
      report(
        'column_missing',
        `${nameOf(through!)} of ${table} lacks columns of the key: ${lacking.join(', ')}. Columns: ${listed(found)}`,
      );
    const ofRelation = through === null ? null : await columnsOf(source, relation);
    for (const name of ofRelation === null ? [] : key) {
      const [one, other] = [found.get(name), ofRelation!.get(name)];
      if (one !== undefined && other !== undefined && mayDiffer(one, other))
        report(
          'changes_key',
          `${name} of ${nameOf(through!)} is ${one.databaseType}, and that of the mapping is ${other.databaseType}: their values may have different texts; use columns of one type`,
        );
    }
    for (const { name, equals } of columns) {
      const [one, other] = [ofTable.get(name), found.get(equals)];
      if (one === undefined) report('column_missing', `no column "${name}" in ${table}. Columns: ${listed(ofTable)}`);
      else if (other === undefined)
        report('column_missing', `no column "${equals}" in ${nameOf(through ?? relation)}. Columns: ${listed(found)}`);
      else if (mayDiffer(one, other))
        report(
          'changes_key',
          `${name} of ${table} is ${one.databaseType}, and ${equals} of ${nameOf(through ?? relation)} is ${other.databaseType}: their values may have different texts; use columns of one type`,
        );
    }
  }
  return problems;
}

/** PostgreSQL pads values of `char(n)`, and compares them as padded with others of that type alone. */
const isPadded = ({ databaseType }: SourceColumn): boolean => databaseType.startsWith('character(');

/** Whether values of the two columns that are equal may have different texts. */
const mayDiffer = (one: SourceColumn, other: SourceColumn): boolean =>
  one.type !== other.type || isPadded(one) !== isPadded(other);

type Columns = ReadonlyMap<string, SourceColumn>;

async function columnsOf(source: Pick<Source, 'describe'>, relation: MappingSpec['relation']): Promise<Columns | null> {
  try {
    return new Map((await source.describe(relation)).map((column) => [column.name, column]));
  } catch (error) {
    if (error instanceof PartnerSyncError && error.code === 'source_relation_missing') return null;
    throw error;
  }
}

/** As a sentence names it. */
const nameOf = (relation: MappingSpec['relation']): string => ('table' in relation ? relation.table : 'the query');

/** Column names that are listed in a message, so that a wide table does not bury it. */
const LISTED = 40;
const listed = (columns: Columns): string => [...columns.keys()].slice(0, LISTED).join(', ');
