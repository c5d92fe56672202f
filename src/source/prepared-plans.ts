/** Prepares read plans: looks up once what has to be known before the first page, the types of columns and whether the key is unique. */
import { createHash } from 'node:crypto';
import { getOrInsert } from '../domain/values/get-or-insert.js';
import type { SourceTable } from '../domain/source/source-catalog.js';
import type { Page, ReadPlan, Rows, SourceColumn } from '../domain/source/source.js';
import { relationName, type ConnectedDatabase } from './connected-database.js';
import type { KeysetColumn, KeysetPlan } from './keyset-query.js';
import { PartnerSyncError } from '../domain/errors.js';
import { PageSizer } from './page-sizer.js';

/** A plan with the types of its columns, and what was learnt from its pages so far. */
export interface PreparedPlan extends KeysetPlan {
  /** Changes with the types of the columns: a prepared statement must not outlive them. */
  readonly id: string;
  /**
   * Rows that are requested beyond the page: one if the key may not be unique, to see whether the next page would
   * begin with the key that this one ends with. None if keys that several rows have are read once.
   */
  readonly lookahead: 0 | 1;
  /** Whether it reads a table: neither a view nor a query. */
  readonly readsTable: boolean;
  readonly described: readonly SourceColumn[];
  readonly sizer: PageSizer;
  /** Type codes of the last page's fields: the table may be altered while it is read. Null before the first page. */
  codes: string | null;
  /** The same of the last rows that were read by values. */
  codesByValues: string | null;
}

/** The prepared plans of one source. */
export class PreparedPlans {
  readonly #database: ConnectedDatabase;
  readonly #statementTimeout: number;
  readonly #prepared = new Map<string, Promise<PreparedPlan>>();
  /** Plans are long-lived objects; hashing one for every page would show in a profile. */
  readonly #ids = new WeakMap<ReadPlan, string>();

  /** `statementTimeout` in seconds. */
  constructor(database: ConnectedDatabase, statementTimeout: number) {
    this.#database = database;
    this.#statementTimeout = statementTimeout;
  }

  /** The plan prepared, at its first use. A failure is not remembered. */
  of(plan: ReadPlan): Promise<PreparedPlan> {
    const id = this.#idOf(plan);
    const known = this.#prepared.get(id);
    if (known !== undefined) return known;
    const prepared = this.#prepare(plan);
    this.#prepared.set(id, prepared);
    prepared.catch(() => this.#prepared.delete(id));
    return prepared;
  }

  /** Prepares the plan anew at its next use. */
  forget(plan: ReadPlan): void {
    this.#prepared.delete(this.#idOf(plan));
  }

  #idOf(plan: ReadPlan): string {
    return getOrInsert(this.#ids, plan, () => md5(plan));
  }

  async #prepare(plan: ReadPlan): Promise<PreparedPlan> {
    const columns = await this.#database.columnsOf(plan.relation, plan.columns);
    const named = (name: string): KeysetColumn => columns[plan.columns.indexOf(name)]!;
    const { distinct = false } = plan;
    const tables = await this.#tablesOf(plan);
    const key = plan.key.map(named);
    const hasConstraint = tables.some(({ uniqueKeys }) => isUnique(plan, uniqueKeys));
    const unique = hasConstraint && !key.some(({ type }) => type.mayTie === true);
    return {
      id: `page_${md5([plan, columns.map((column) => column.type.databaseType)])}`,
      lookahead: unique || distinct ? 0 : 1,
      readsTable: tables.some(({ kind }) => kind === 'table'),
      relation: plan.relation,
      columns,
      key,
      cursor: plan.cursor === null ? null : named(plan.cursor),
      unique,
      distinct,
      described: columns.map(describedColumn),
      sizer: new PageSizer(this.#statementTimeout),
      codes: null,
      codesByValues: null,
    };
  }

  async #tablesOf({ relation }: ReadPlan): Promise<readonly SourceTable[]> {
    return 'table' in relation ? this.#database.tables([relation.table]) : [];
  }
}

const isUnique = ({ key }: ReadPlan, uniqueKeys: SourceTable['uniqueKeys']): boolean =>
  uniqueKeys.some((unique) => unique.every((name) => key.includes(name)));

/** Columns as the rest of the product sees them, without what only a dialect knows. */
export const describedColumn = ({ name, type }: KeysetColumn): SourceColumn => ({
  name,
  type: type.type,
  databaseType: type.databaseType,
  ...(type.hasOtherTypes && { hasOtherTypes: true }),
});

/** Rows of the database as a page: values whose text still differs from the promised form are put right. */
export function pageOf({ columns, described }: PreparedPlan, rows: Rows): Page {
  const finishes = columns.flatMap(({ type }, i) => (type.finish === undefined ? [] : [[i, type.finish] as const]));
  if (finishes.length === 0) return { rows, columns: described };
  const finished = Array.from(rows, (row) => [...row]);
  for (const [index, finish] of finishes)
    for (const row of finished) if (row[index] != null) row[index] = finish(row[index]);
  return { rows: finished, columns: described };
}

/** The error of a plan whose key is NULL or shared, so that a page could skip a row. */
export const keyUnusable = ({ relation, key }: ReadPlan, why: string): PartnerSyncError =>
  new PartnerSyncError(
    'source_key_unusable',
    `source: the key ${key.join(', ')} does not identify each row of ${relationName(relation)}: ${why}`,
  );

const md5 = (value: unknown): string => createHash('md5').update(JSON.stringify(value)).digest('hex');
