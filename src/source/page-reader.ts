/** Reads a table page by page in key order, with fewer rows per page if they are wide or the database is slow. */
import { PartnerSyncError } from '../domain/errors.js';
import type { Page, ReadBounds, ReadPlan, Rows, SourceRow } from '../domain/source.js';
import { relationName, type ConnectedDatabase } from './connected-database.js';
import type { RawPage } from './dialect.js';
import { areEqualInDatabase } from './equal-in-database.js';
import { truncateRows } from './truncate-rows.js';
import { pageQuery } from './keyset-query.js';
import { PAGE_CHARACTERS, type PageFacts } from './page-sizer.js';
import { keyUnusable, pageOf, type PreparedPlan, type PreparedPlans } from './prepared-plans.js';
import { retryRead } from './retry-read.js';
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
    return retryRead(
      async () => {
        const page = await this.#readOnce(plan, bounds, limit);
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
    if (!prepared.unique && bounds.after === null) await this.#refuseNullKeys(plan);
    let wanted = prepared.sizer.limit(limit);
    const started = performance.now();
    let answer = await this.#run(prepared, bounds, wanted, PAGE_CHARACTERS);
    prepared.sizer.observe({ ...weightOf(answer), milliseconds: performance.now() - started });
    // A single row over the budget is read all the same: there is nothing smaller to ask for.
    if (answer.cut === true && answer.rows.length <= prepared.spare) {
      wanted = 1;
      answer = await this.#run(prepared, bounds, wanted);
    }
    const codes = JSON.stringify(answer.fields.map((field) => field.code));
    if (prepared.codes !== null && prepared.codes !== codes) return null;
    prepared.codes = codes;
    if (prepared.spare === 0) return pageOf(prepared, answer.rows);
    const complete = answer.cut === true ? answer.rows.length - prepared.spare : wanted;
    refuseTie(plan, prepared, answer.rows.at(complete - 1), answer.rows.at(complete));
    return pageOf(prepared, truncateRows(answer.rows, complete));
  }

  async #run(prepared: PreparedPlan, bounds: ReadBounds, rows: number, budget?: number): Promise<RawPage<Rows>> {
    const { dialect, session } = this.#database;
    // Each combination of bounds is a statement of its own.
    const given = Object.values(bounds).map((bound) => (bound === null ? '0' : '1'));
    const name = `${prepared.id}_${given.join('')}`;
    const options = budget === undefined ? { name } : { name, budget };
    try {
      return await withSourceErrors(dialect, `reading ${relationName(prepared.relation)}`, () =>
        session.run(pageQuery(dialect, prepared, bounds, rows + prepared.spare), options),
      );
    } catch (error) {
      if (error instanceof PartnerSyncError && error.details['timedOut'] === true) prepared.sizer.tooSlow(rows);
      throw error;
    }
  }

  async #refuseNullKeys(plan: ReadPlan): Promise<void> {
    for (const name of plan.key)
      if (await this.#database.hasNull(plan.relation, name)) throw keyUnusable(plan, `${name} is NULL in a row`);
  }
}

/** The next page begins after the key of this one's last row, and would skip a row with the same key. */
function refuseTie(plan: ReadPlan, { key, cursor }: PreparedPlan, last?: SourceRow, next?: SourceRow): void {
  if (last === undefined || next === undefined) return;
  const ordering = cursor === null ? key : [...key, cursor];
  const same = ordering.every(({ name, type }) => {
    const index = plan.columns.indexOf(name);
    return areEqualInDatabase(type, last[index]!, next[index]!);
  });
  if (same) throw keyUnusable(plan, 'two rows share it');
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
