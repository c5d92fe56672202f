/** Any database as a {@link Source}: keyset pages in plain queries, never a stream, never a transaction. */
import { createHash } from 'node:crypto';
import { PartnerSyncError } from '../domain/errors.js';
import type { SourceTable } from '../domain/source-catalog.js';
import type { Page, ReadBounds, ReadPlan, Relation, Rows, Source, SourceColumn, SourceRow } from '../domain/source.js';
import { tablesOf } from './catalog.js';
import type { ColumnType, Dialect, Query, RawPage, Session } from './dialect.js';
import { inSource, readAgain } from './failure.js';
import { byValuesQuery, fromClause, limited, pageQuery, query, type KeysetColumn, type Reading } from './keyset.js';
import { stampMinus } from './local-time.js';
import { PAGE_BUDGET, PageSizer, type PageFacts } from './page-sizer.js';
import { splitKeys } from './split-keys.js';
import { tableNameParts } from './table-name.js';

/** What is found out about a plan once: its columns' types, and whether its key names a row. */
interface Shape extends Reading {
  /** Changes with the types of the columns: a prepared statement must not outlive them. */
  readonly id: string;
  /**
   * Rows that are asked for beyond the page: one, where the key may not name a row, to see whether the next page
   * would begin with the key that this one ends with.
   */
  readonly spare: 0 | 1;
  readonly described: readonly SourceColumn[];
  readonly finishes: readonly (readonly [index: number, finish: (text: string) => string])[];
  readonly keyIndexes: readonly number[];
  readonly sizer: PageSizer;
  /** Of the last page's fields: the table may change while it is read. */
  codes: string | null;
}

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');
const nameOf = (relation: Relation): string => ('table' in relation ? relation.table : 'the query');

export function openDatabase(dialect: Dialect, session: Session, statementTimeout: number): Source {
  const types = new Map<string, ColumnType>();
  const shapes = new Map<string, Promise<Shape>>();
  const planIds = new WeakMap<ReadPlan, string>();

  /** For questions of ours, which are small. */
  const ask = (what: string, asked: Query): Promise<RawPage> =>
    readAgain(
      () => inSource(dialect, what, () => session.run(asked)),
      () => false,
    );

  const typesOf = async (fields: RawPage['fields']): Promise<ColumnType[]> => {
    const unknown = [...new Set(fields.map((f) => f.code).filter((code) => !types.has(code)))];
    if (unknown.length > 0)
      for (const [code, type] of await inSource(dialect, 'reading the names of column types', () =>
        session.typesOf(unknown),
      ))
        types.set(code, type);
    return fields.map((f) => types.get(f.code) ?? { type: 'other', databaseType: 'unknown' });
  };

  /** Columns of a relation, by name or all: an account may be allowed to read some of them only. */
  const columnsOf = async (relation: Relation, names?: readonly string[]): Promise<KeysetColumn[]> => {
    const list = names?.map((name) => `q.${dialect.quote(name)}`).join(', ') ?? 'q.*';
    const { fields } = await ask(
      `describing ${nameOf(relation)}`,
      query(dialect, (bind) => limited(dialect, list, fromClause(dialect, relation), 0, bind)),
    );
    const found = await typesOf(fields);
    return fields.map((f, i) => ({ name: f.name, type: found[i]! }));
  };

  const idOf = (plan: ReadPlan): string => {
    let id = planIds.get(plan);
    if (id === undefined) planIds.set(plan, (id = md5(JSON.stringify(plan))));
    return id;
  };
  const shapeOf = (plan: ReadPlan): Promise<Shape> => {
    const id = idOf(plan);
    let shape = shapes.get(id);
    if (shape === undefined) {
      shapes.set(id, (shape = findShape(plan)));
      shape.catch(() => shapes.delete(id));
    }
    return shape;
  };
  const findShape = async (plan: ReadPlan): Promise<Shape> => {
    const columns = await columnsOf(plan.relation, plan.columns);
    const named = (name: string): KeysetColumn => columns[plan.columns.indexOf(name)]!;
    const unique = await isUnique(plan);
    return {
      id: `page_${md5(JSON.stringify([plan, columns.map((column) => column.type.databaseType)]))}`,
      spare: unique ? 0 : 1,
      relation: plan.relation,
      columns,
      key: plan.key.map(named),
      cursor: plan.cursor === null ? null : named(plan.cursor),
      unique,
      described: columns.map(describedColumn),
      finishes: columns.flatMap(({ type }, i) => (type.finish === undefined ? [] : [[i, type.finish] as const])),
      keyIndexes: plan.key.map((name) => plan.columns.indexOf(name)),
      sizer: new PageSizer(statementTimeout),
      codes: null,
    };
  };
  const isUnique = async ({ relation, key }: ReadPlan): Promise<boolean> =>
    'table' in relation &&
    (await tables([relation.table])).some(({ uniqueKeys }) =>
      uniqueKeys.some((unique) => unique.every((column) => key.includes(column))),
    );

  const tables = async (names?: readonly string[]): Promise<SourceTable[]> => {
    const bare = names === undefined ? null : names.map((name) => tableNameParts(name).at(-1)!);
    const rows = await readAgain(
      () => inSource(dialect, 'reading the catalogue', () => dialect.catalog(session, bare)),
      () => false,
    );
    const found = tablesOf(rows, (databaseType, hint) => dialect.kindOf(databaseType, hint));
    return names === undefined ? found : found.filter(isNamed(names));
  };

  const pageOf = ({ finishes, described }: Shape, rows: Rows): Page => {
    if (finishes.length === 0) return { rows, columns: described };
    const finished = Array.from(rows, (row) => [...row]);
    for (const [index, finish] of finishes)
      for (const row of finished) if (row[index] != null) row[index] = finish(row[index]);
    return { rows: finished, columns: described };
  };

  /** A page of the plan; null if its columns have changed since the shape was found. */
  const readOnce = async (plan: ReadPlan, bounds: ReadBounds, limit: number): Promise<Page | null> => {
    const shape = await shapeOf(plan);
    if (!shape.unique && bounds.after === null) await refuseNullKeys(plan, shape);
    const rows = shape.sizer.limit(limit);
    const started = performance.now();
    let answer = await readRows(plan, shape, bounds, rows, PAGE_BUDGET);
    shape.sizer.observe({ ...weightOf(answer), milliseconds: performance.now() - started });
    // A single row over the budget is read all the same: there is nothing smaller to ask for.
    if (answer.cut === true && answer.rows.length <= shape.spare) answer = await readRows(plan, shape, bounds, 1);
    const codes = JSON.stringify(answer.fields.map((f) => f.code));
    if (shape.codes !== null && shape.codes !== codes) return null;
    shape.codes = codes;
    if (shape.spare === 0) return pageOf(shape, answer.rows);
    const complete = answer.cut === true ? answer.rows.length - shape.spare : rows;
    refuseTie(plan, shape, answer.rows.at(complete - 1), answer.rows.at(complete));
    return pageOf(shape, firstOf(answer.rows, complete));
  };

  const readRows = async (plan: ReadPlan, shape: Shape, bounds: ReadBounds, rows: number, budget?: number) => {
    const given = Object.values(bounds).map((bound) => (bound === null ? '0' : '1'));
    try {
      return await inSource(dialect, `reading ${nameOf(plan.relation)}`, () =>
        session.run(pageQuery(dialect, shape, bounds, rows + shape.spare), {
          name: `${shape.id}_${given.join('')}`,
          ...(budget === undefined ? {} : { budget }),
        }),
      );
    } catch (error) {
      if (error instanceof PartnerSyncError && error.details['timedOut'] === true) shape.sizer.tooSlow(rows);
      throw error;
    }
  };

  const refuseNullKeys = async (plan: ReadPlan, shape: Shape): Promise<void> => {
    for (const { name } of shape.key)
      if (await hasNull(plan, name)) throw keyUnusable(plan, `${name} is NULL in a row`);
  };
  /** The next page begins after the key of this one's last row, and would skip a row with the same. */
  const refuseTie = (
    plan: ReadPlan,
    { keyIndexes, cursor, columns }: Shape,
    last?: SourceRow,
    next?: SourceRow,
  ): void => {
    if (last === undefined || next === undefined) return;
    const places = cursor === null ? keyIndexes : [...keyIndexes, columns.indexOf(cursor)];
    if (places.every((i) => last[i] === next[i])) throw keyUnusable(plan, 'two rows share it');
  };

  const hasNull = async (plan: ReadPlan, column: string): Promise<boolean> =>
    (
      await ask(
        `looking for NULL in ${column}`,
        query(dialect, (bind) =>
          limited(
            dialect,
            '1',
            `${fromClause(dialect, plan.relation)} WHERE q.${dialect.quote(column)} IS NULL`,
            1,
            bind,
          ),
        ),
      )
    ).rows.length > 0;

  const cursorOf = async (plan: ReadPlan) => {
    if (plan.cursor === null) throw new PartnerSyncError('config_invalid', `${nameOf(plan.relation)} has no cursor`);
    const { cursor } = await shapeOf(plan);
    const from = fromClause(dialect, plan.relation);
    return { ...cursor!.type, name: plan.cursor, zone: plan.cursorZone ?? null, from };
  };

  return {
    describe: async (relation) => (await columnsOf(relation)).map(describedColumn),
    readPage: (plan, bounds, limit) =>
      readAgain(
        async () => {
          const page = await readOnce(plan, bounds, limit);
          if (page !== null) return page;
          shapes.delete(idOf(plan));
          return (await readOnce(plan, bounds, limit))!;
        },
        () => limit > 1,
      ),
    async readByValues(plan, columns, values) {
      if (values.length === 0) return { rows: [], columns: [] };
      const shape = await shapeOf(plan);
      const asked = byValuesQuery(dialect, shape, await columnsOf(plan.relation, columns), values);
      return pageOf(shape, (await ask(`reading keys of ${nameOf(plan.relation)}`, asked)).rows);
    },
    async fence(plan) {
      const cursor = await cursorOf(plan);
      return readAgain(
        () => inSource(dialect, 'taking the fence', () => dialect.fence(session, cursor)),
        () => false,
      );
    },
    hasNull,
    async cursorMinus(plan, cursor, seconds) {
      const { type, zone } = await cursorOf(plan);
      const isStamp = type === 'timestamp' || type === 'timestamptz' || type === 'date';
      return isStamp ? stampMinus(cursor, seconds, type === 'timestamptz' ? null : zone) : cursor;
    },
    splitKeys: async (plan, rows) => splitKeys({ dialect, ask, tables }, plan, await shapeOf(plan), rows),
    server: () =>
      readAgain(
        () => inSource(dialect, 'asking for the version', () => dialect.server(session)),
        () => false,
      ),
    tables,
    close: () => session.close(),
  };
}

const describedColumn = ({ name, type }: KeysetColumn): SourceColumn => ({
  name,
  type: type.type,
  databaseType: type.databaseType,
});

const keyUnusable = ({ relation, key }: ReadPlan, why: string): PartnerSyncError =>
  new PartnerSyncError(
    'source_key_unusable',
    `source: the key ${key.join(', ')} does not name each row of ${nameOf(relation)}: ${why}`,
  );

/** The first of the rows, as they are. */
function firstOf(rows: Rows, count: number): Rows {
  if (rows.length <= count) return rows;
  const { inBytes } = rows;
  return {
    ...{ length: count, ...(inBytes && { inBytes }) },
    at(index) {
      const i = index < 0 ? count + index : index;
      return i >= 0 && i < count ? rows.at(i) : undefined;
    },
    *[Symbol.iterator]() {
      for (let i = 0; i < count; i++) yield rows.at(i)!;
    },
  };
}

/** Characters of a page, from a few of its rows; whether rows were left out is known exactly. */
function weightOf({ rows, cut = false }: RawPage<Rows>): Omit<PageFacts, 'milliseconds'> {
  const step = Math.max(1, Math.floor(rows.length / 20));
  let characters = 0;
  let seen = 0;
  for (let i = 0; i < rows.length; i += step, seen++) for (const value of rows.at(i)!) characters += value?.length ?? 0;
  return { rows: rows.length, characters: seen === 0 ? 0 : (characters / seen) * rows.length, cut };
}

/** A mapping may name a table with its schema or, where the database finds it, without. */
function isNamed(names: readonly string[]): (table: SourceTable) => boolean {
  const asked = new Set(names.map((name) => JSON.stringify(tableNameParts(name))));
  return ({ table, schema, name }) =>
    asked.has(JSON.stringify(tableNameParts(table))) || asked.has(JSON.stringify([schema, name]));
}
