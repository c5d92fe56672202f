/** Reads a table page by page in key order, with fewer rows per page if they are wide or the database is slow. */
import { PartnerSyncError } from '../domain/errors.js';
import type { Page, ReadBounds, ReadPlan, Rows, SourceRow } from '../domain/source.js';
import { relationName, type ConnectedDatabase } from './connected-database.js';
import type { RawPage } from './dialect.js';
import { areEqual } from './equal-values.js';
import { firstRows } from './first-rows.js';
import { pageQuery } from './keyset.js';
import { PAGE_BUDGET, type PageFacts } from './page-sizer.js';
import { keyUnusable, pageOf, type ReadingShape, type ReadingShapes } from './reading-shape.js';
import { inSource, readAgain } from './source-error.js';

/** Carries out `Source.readPage`. */
export class PageReader {
  readonly #database: ConnectedDatabase;
  readonly #shapes: ReadingShapes;

  constructor(database: ConnectedDatabase, shapes: ReadingShapes) {
    this.#database = database;
    this.#shapes = shapes;
  }

  /** See `Source.readPage`. A timeout is tried again with fewer rows, as long as there are fewer to ask for. */
  readPage(plan: ReadPlan, bounds: ReadBounds, limit: number): Promise<Page> {
    return readAgain(
      async () => {
        const page = await this.#readOnce(plan, bounds, limit);
        if (page !== null) return page;
        this.#shapes.forget(plan);
        return (await this.#readOnce(plan, bounds, limit))!;
      },
      () => limit > 1,
    );
  }

  /** One page; null if the types of its columns have changed since the shape was found. */
  async #readOnce(plan: ReadPlan, bounds: ReadBounds, limit: number): Promise<Page | null> {
    const shape = await this.#shapes.of(plan);
    if (!shape.unique && bounds.after === null) await this.#refuseNullKeys(plan);
    let wanted = shape.sizer.limit(limit);
    const started = performance.now();
    let answer = await this.#run(shape, bounds, wanted, PAGE_BUDGET);
    shape.sizer.observe({ ...weightOf(answer), milliseconds: performance.now() - started });
    // A single row over the budget is read all the same: there is nothing smaller to ask for.
    if (answer.cut === true && answer.rows.length <= shape.spare) {
      wanted = 1;
      answer = await this.#run(shape, bounds, wanted);
    }
    const codes = JSON.stringify(answer.fields.map((field) => field.code));
    if (shape.codes !== null && shape.codes !== codes) return null;
    shape.codes = codes;
    if (shape.spare === 0) return pageOf(shape, answer.rows);
    const complete = answer.cut === true ? answer.rows.length - shape.spare : wanted;
    refuseTie(plan, shape, answer.rows.at(complete - 1), answer.rows.at(complete));
    return pageOf(shape, firstRows(answer.rows, complete));
  }

  async #run(shape: ReadingShape, bounds: ReadBounds, rows: number, budget?: number): Promise<RawPage<Rows>> {
    const { dialect, session } = this.#database;
    // Each combination of bounds is a statement of its own.
    const given = Object.values(bounds).map((bound) => (bound === null ? '0' : '1'));
    const name = `${shape.id}_${given.join('')}`;
    const options = budget === undefined ? { name } : { name, budget };
    try {
      return await inSource(dialect, `reading ${relationName(shape.relation)}`, () =>
        session.run(pageQuery(dialect, shape, bounds, rows + shape.spare), options),
      );
    } catch (error) {
      if (error instanceof PartnerSyncError && error.details['timedOut'] === true) shape.sizer.tooSlow(rows);
      throw error;
    }
  }

  async #refuseNullKeys(plan: ReadPlan): Promise<void> {
    for (const name of plan.key)
      if (await this.#database.hasNull(plan.relation, name)) throw keyUnusable(plan, `${name} is NULL in a row`);
  }
}

/** The next page begins after the key of this one's last row, and would skip a row with the same key. */
function refuseTie(plan: ReadPlan, { key, cursor }: ReadingShape, last?: SourceRow, next?: SourceRow): void {
  if (last === undefined || next === undefined) return;
  const ordering = cursor === null ? key : [...key, cursor];
  const same = ordering.every(({ name, type }) => {
    const index = plan.columns.indexOf(name);
    return areEqual(type, last[index]!, next[index]!);
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
