/** A partner's database behind its dialect: runs small statements, and knows the columns and tables they are about. */
import type { SourceTable } from '../domain/source/source-catalog.js';
import type { OnRetry } from '../domain/monitoring/retries.js';
import { PartnerSyncError } from '../domain/errors.js';
import type { Relation, SourceKey } from '../domain/source/source.js';
import { tablesOf } from './tables-from-catalog.js';
import type { ColumnType, Dialect, Query, RawField, RawPage, Session } from './dialect.js';
import { valuesQuery, fromClause, selectLimited, queryOf, type KeysetColumn } from './keyset-query.js';
import { retryRead } from './retry-read.js';
import { withSourceErrors } from './source-error.js';
import { tableNameParts } from './table-name.js';

/** What error messages call a relation: the table's name as the mapping writes it. */
export const relationName = (relation: Relation): string => ('table' in relation ? relation.table : 'the query');

/** A dialect together with an open pool of sessions. Every method may throw the `source_*` errors of the dialect. */
export class ConnectedDatabase {
  readonly dialect: Dialect;
  readonly session: Session;
  readonly #onRetry: OnRetry | undefined;
  readonly #types = new Map<string, ColumnType>();

  constructor(dialect: Dialect, session: Session, onRetry: OnRetry | undefined) {
    this.dialect = dialect;
    this.session = session;
    this.#onRetry = onRetry;
  }

  /** {@link retryRead} that tells of its retries. */
  retry<T>(read: () => Promise<T>, onTimeout: () => boolean): Promise<T> {
    return retryRead(read, onTimeout, this.#onRetry);
  }

  /**
   * Runs `work`, again after a lost session or a lock, and turns what the driver throws into our errors. A timeout is
   * final: the same statement would only take as long again. `what` completes the message `source: <what> failed`.
   */
  attempt<T>(what: string, work: () => Promise<T>): Promise<T> {
    return this.retry(
      () => withSourceErrors(this.dialect, what, work),
      () => false,
    );
  }

  /** {@link attempt} without repeating it. */
  once<T>(what: string, work: () => Promise<T>): Promise<T> {
    return withSourceErrors(this.dialect, what, work);
  }

  /** Runs a statement whose result is small. */
  ask(what: string, asked: Query): Promise<RawPage> {
    return this.attempt(what, () => this.session.run(asked));
  }

  /**
   * What a query for rows with these values has failed with, of which `unfitValue` says whether it is about a value: PostgreSQL has
   * the same codes for what the mapping's own query computes of a row, such as a division by zero. Throws what it fails with itself.
   */
  async errorOfValues(
    error: unknown,
    { relation, columns }: { readonly relation: Relation; readonly columns: readonly KeysetColumn[] },
    values: readonly SourceKey[],
  ): Promise<unknown> {
    if (!(error instanceof PartnerSyncError) || error.details['unfitValue'] !== true) return error;
    await this.ask(
      `comparing values with ${relationName(relation)}`,
      valuesQuery(this.dialect, relation, columns, values),
    );
    return new PartnerSyncError(
      error.code,
      error.message,
      { ...error.details, unfitValue: false },
      { cause: error.cause },
    );
  }

  /**
   * The columns of a relation with their types: those named, in that order, or all. Callers name what they need,
   * because an account may be allowed to read some columns only. Nothing is bound: a parameter of the mapping's own query, such as $1,
   * would be given our value, here and in every page.
   */
  async columnsOf(relation: Relation, names?: readonly string[]): Promise<KeysetColumn[]> {
    const { dialect } = this;
    const list = names?.map((name) => `q.${dialect.quote(name)}`).join(', ') ?? 'q.*';
    const sql = selectLimited(dialect, list, fromClause(dialect, relation), 0, String);
    const { fields } = await this.ask(`describing ${relationName(relation)}`, { sql, bindings: [] });
    await this.#learnTypes(fields);
    return fields.map(({ name, code }) => ({
      name,
      type: this.#types.get(code) ?? { type: 'other', databaseType: 'unknown' },
    }));
  }

  /** Whether some row of the relation has NULL in the column. */
  async hasNull(relation: Relation, column: string): Promise<boolean> {
    const { dialect } = this;
    const rest = `${fromClause(dialect, relation)} WHERE q.${dialect.quote(column)} IS NULL`;
    const { rows } = await this.ask(
      `looking for NULL in ${column}`,
      queryOf(dialect, (bind) => selectLimited(dialect, '1', rest, 1, bind)),
    );
    return rows.length > 0;
  }

  /** Whether the relation has values of several classes in the column ({@link Dialect.classOf}): these come one after the other. */
  async hasSeveralClasses(relation: Relation, column: string): Promise<boolean> {
    const { dialect } = this;
    const { classOf } = dialect;
    if (classOf === undefined) return false;
    const [lowest, highest] = ['min', 'max'].map((of) =>
      classOf(`(SELECT ${of}(q.${dialect.quote(column)}) FROM ${fromClause(dialect, relation)})`),
    );
    const { rows } = await this.ask(`comparing the types in ${column}`, {
      sql: `SELECT 1 WHERE ${lowest} <> ${highest}`,
      bindings: [],
    });
    return rows.length > 0;
  }

  /** The catalogue's tables and views; only those of `names` (as a mapping writes them) if given. */
  async tables(names?: readonly string[]): Promise<SourceTable[]> {
    const bare = names === undefined ? null : names.map((name) => tableNameParts(name).at(-1)!);
    const rows = await this.attempt('reading the catalogue', () => this.dialect.catalog(this.session, bare));
    const found = tablesOf(rows, (databaseType, hint) => this.dialect.kindOf(databaseType, hint));
    return names === undefined ? found : found.filter(isNamed(names));
  }

  async #learnTypes(fields: readonly RawField[]): Promise<void> {
    const unknown = [...new Set(fields.map(({ code }) => code).filter((code) => !this.#types.has(code)))];
    if (unknown.length === 0) return;
    const found = await withSourceErrors(this.dialect, 'reading the names of column types', () =>
      this.session.typesOf(unknown),
    );
    for (const [code, type] of found) this.#types.set(code, type);
  }
}

/** A mapping may name a table with its schema or, if the database finds it, without. */
function isNamed(names: readonly string[]): (table: SourceTable) => boolean {
  const asked = new Set(names.map((name) => JSON.stringify(tableNameParts(name))));
  return ({ table, schema, name }) =>
    asked.has(JSON.stringify(tableNameParts(table))) || asked.has(JSON.stringify([schema, name]));
}
