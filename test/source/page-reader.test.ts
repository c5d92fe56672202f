/** Pages that outgrow their budget, read from a database that is played. */
import { expect, it } from 'vitest';
import type { ReadBounds, ReadPlan } from '../../src/domain/source/source.js';
import type { ConnectedDatabase } from '../../src/source/connected-database.js';
import { PageReader } from '../../src/source/page-reader.js';
import { PageSizer } from '../../src/source/page-sizer.js';
import type { PreparedPlan, PreparedPlans } from '../../src/source/prepared-plans.js';
import { postgres } from '../../src/source/postgres/postgres.js';

const plan: ReadPlan = { relation: { table: 't' }, columns: ['id'], key: ['id'], cursor: null };

const BOUNDS: ReadBounds = { after: null, cursorFrom: null, cursorBefore: null, throughKey: null };

/** A reader of a key that may not be unique. The first query is cut after one row; the second finds these rows. */
function readerOf(rows: readonly (readonly string[])[]): PageReader {
  const id = { name: 'id', type: { type: 'string', databaseType: 'text' } };
  const shape = {
    id: 'page',
    lookahead: 1,
    relation: plan.relation,
    columns: [id],
    key: [id],
    cursor: null,
    unique: false,
    described: [],
    sizer: new PageSizer(60),
    codes: null,
    codesByValues: null,
  } as unknown as PreparedPlan;
  const answers = [
    { rows: rows.slice(0, 1), fields: [], cut: true },
    { rows, fields: [] },
  ];
  const database = {
    dialect: postgres,
    hasNull: () => Promise.resolve(false),
    retry: (read: () => Promise<unknown>) => read(),
    session: { run: () => Promise.resolve(answers.shift()) },
  } as unknown as ConnectedDatabase;
  return new PageReader(database, { of: () => Promise.resolve(shape) } as unknown as PreparedPlans);
}

it('keeps the row that was only looked at out of a page of one oversized row', async () => {
  const page = await readerOf([['a'], ['b']]).readPage(plan, BOUNDS, 100);
  expect([...page.rows]).toEqual([['a']]);
});

it('refuses a tie behind an oversized row', async () => {
  const page = readerOf([['a'], ['a']]).readPage(plan, BOUNDS, 100);
  await expect(page).rejects.toThrow('two rows share it');
});
