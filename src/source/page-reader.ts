/** Reads a table page by page in key order, with fewer rows per page if they are wide or the database is slow. */
import { PartnerSyncError } from '../domain/errors.js';
import type { Page, ReadBounds, ReadPlan, Rows, SourceRow } from '../domain/source/source.js';
import { relationName, type ConnectedDatabase } from './connected-database.js';
import type { RawPage } from './dialect.js';
import { pageQuery } from './keyset-query.js';
import { MAX_PAGE_CHARACTERS, type PageFacts } from './page-sizer.js';
import { lookUpLast } from './look-up-last.js';
import { keyUnusable, pageOf, type PreparedPlan, type PreparedPlans } from './prepared-plans.js';
import { refuseSharedKeys } from './shared-keys.js';
import { withSourceErrors } from './source-error.js';

/** Carries out `Source.readPage`. */
export class PageReader {
  readonly #database: ConnectedDatabase;
  readonly #plans: PreparedPlans;

  constructor(database: ConnectedDatabase, plans: PreparedPlans) {
    this.#database = database;
    this.#plans = plans;
  }

  /** See `Source.readPage`. A timeout is tried again with fewer rows, as long as there are fewer to ask for. */
  readPage(plan: ReadPlan, bounds: ReadBounds, limit: number): Promise<Page> {
    return this.#database.retry(
      async () => {
        const page = await this.#readOnce(plan, bounds, limit).catch(nullIfUnfit);
        if (page !== null) return page;
        this.#plans.forget(plan);
        return (await this.#readOnce(plan, bounds, limit))!;
      },
      () => limit > 1,
    );
  }

  /** One page; null if the types of its columns have changed since the plan was prepared. */
  async #readOnce(plan: ReadPlan, bounds: ReadBounds, limit: number): Promise<Page | null> {
    const prepared = await this.#plans.of(plan);
    if (prepared.lookahead > 0 && bounds.after === null) await this.#refuseKeys(plan, prepared);
    let wanted = prepared.sizer.limit(limit);
    const started = performance.now();
    let raw = await this.#run(prepared, bounds, wanted, MAX_PAGE_CHARACTERS);
    prepared.sizer.observe({ ...weightOf(raw), milliseconds: performance.now() - started });
    // A single row over the budget is read all the same: there is nothing smaller to ask for.
    if (raw.cut === true && raw.rows.length <= prepared.lookahead) {
      wanted = 1;
      raw = await this.#run(prepared, bounds, wanted);
    }
    const codes = JSON.stringify(raw.fields.map((field) => field.code));
    if (prepared.codes !== null && prepared.codes !== codes) return null;
    prepared.codes = codes;
    let { rows } = raw;
    if (prepared.lookahead > 0) {
      const complete = raw.cut === true ? rows.length - prepared.lookahead : wanted;
      // With the row behind the page, which the next one, beginning after the key of the last row, would skip.
      const compared = plan.countsSharedKeys === true ? edgeOf(rows, complete) : rows;
      refuseSharedKeys(this.#database.dialect, plan, prepared, compared);
      rows = truncateRows(rows, complete);
    }
    refuseRepeat(plan, bounds, rows);
    if (raw.notFound === true) throw keyUnusable(plan, NOT_FOUND);
    return pageOf(prepared, rows);
  }

  async #run(prepared: PreparedPlan, bounds: ReadBounds, rows: number, budget?: number): Promise<RawPage<Rows>> {
    const { dialect, session } = this.#database;
    const { whereIn, ...ends } = bounds;
    // Each combination of bounds is a statement of its own. One for a list of values would hardly be used again.
    const given = Object.values(ends).map((bound) => (bound === null ? '0' : '1'));
    const options = {
      ...(whereIn === undefined && { name: `${prepared.id}_${given.join('')}` }),
      ...(budget !== undefined && { budget }),
      lookUp: lookUpLast(dialect, prepared, rows),
    };
    try {
      return await withSourceErrors(dialect, `reading ${relationName(prepared.relation)}`, () =>
        session.run(pageQuery(dialect, prepared, bounds, rows + prepared.lookahead), options),
      );
    } catch (error) {
      if (error instanceof PartnerSyncError && error.details['timedOut'] === true) prepared.sizer.tooSlow(rows);
      if (whereIn === undefined) throw error;
      const columns = whereIn.columns.map((name) => prepared.columns.find((column) => column.name === name)!);
      throw await this.#database.errorOfValues(error, { relation: prepared.relation, columns }, whereIn.values);
    }
  }

  async #refuseKeys(plan: ReadPlan, { readsTable }: PreparedPlan): Promise<void> {
    for (const name of plan.key)
      if (await this.#database.hasNull(plan.relation, name)) throw keyUnusable(plan, `${name} is NULL in a row`);
    if (readsTable) return;
    for (const name of plan.cursor === null ? plan.key : [...plan.key, plan.cursor])
      if (await this.#database.hasSeveralClasses(plan.relation, name))
        throw keyUnusable(
          plan,
          `${name} has values of more than one type, which compare otherwise in each part of a view; CAST it to one type in the view or query`,
        );
  }
}

/**
 * A page that contains the row after which it was to begin would be read again and again; it is the first row, or the last one if
 * the database sorts that text elsewhere. If the next page were to begin after a text that cannot be written as it is,
 * rows in between would be skipped.
 */
function refuseRepeat(plan: ReadPlan, { after }: ReadBounds, rows: Rows): void {
  const last = rows.at(-1);
  if (last === undefined) return;
  const ordering = plan.cursor === null ? plan.key : [plan.cursor, ...plan.key];
  const value = (row: SourceRow, name: string): string | null | undefined => row[plan.columns.indexOf(name)];
  for (const name of ordering)
    if (value(last, name)?.isWellFormed() === false)
      throw keyUnusable(plan, `${name} of a row is not valid text, by which the database would not find the next row`);
  if (after === null) return;
  const isBound = (row: SourceRow): boolean =>
    (after.cursor === null || value(row, plan.cursor!) === after.cursor) &&
    plan.key.every((name, i) => value(row, name) === after.key[i]);
  if (isBound(rows.at(0)!) || isBound(last)) throw keyUnusable(plan, NOT_FOUND);
}

const NOT_FOUND = 'the database does not find a row by the text of its key';

/** A bound may be of another type than the plan was prepared with: another process has noticed that the column was altered. */
function nullIfUnfit(error: unknown): null {
  if (error instanceof PartnerSyncError && error.details['unfitValue'] === true) return null;
  throw error;
}

/** The last row of a page of `count` rows and the one behind it, as far as they are there. */
const edgeOf = (rows: Rows, count: number): Rows =>
  [rows.at(count - 1), rows.at(count)].filter((row) => row !== undefined);

/** The first `count` rows of `rows`, or all if there are fewer; rows that are still bytes stay so. */
function truncateRows(rows: Rows, count: number): Rows {
  if (rows.length <= count) return rows;
  const { inBytes } = rows;
  const first: Rows = {
    length: count,
    at(index) {
      const i = index < 0 ? count + index : index;
      return i >= 0 && i < count ? rows.at(i) : undefined;
    },
    *[Symbol.iterator]() {
      for (let i = 0; i < count; i++) yield rows.at(i)!;
    },
  };
  return inBytes === undefined ? first : { ...first, inBytes };
}

/** How many rows a page is weighed by: looking at a row may mean decoding it. */
const WEIGHED_ROWS = 20;

/** The characters of a page, estimated from some of its rows; whether rows were left out is known exactly. */
function weightOf({ rows, cut = false }: RawPage<Rows>): Omit<PageFacts, 'milliseconds'> {
  const step = Math.max(1, Math.floor(rows.length / WEIGHED_ROWS));
  let characters = 0;
  let seen = 0;
  for (let i = 0; i < rows.length; i += step, seen++) for (const value of rows.at(i)!) characters += value?.length ?? 0;
  return { rows: rows.length, characters: seen === 0 ? 0 : (characters / seen) * rows.length, cut };
}
