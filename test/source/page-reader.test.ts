/** Pages as they are asked for and taken apart, read from a database that is played. */
import { describe, expect, it } from 'vitest';
import { PartnerSyncError } from '../../src/domain/errors.js';
import type { ReadBounds, ReadPlan, SourceType } from '../../src/domain/source/source.js';
import type { ConnectedDatabase } from '../../src/source/connected-database.js';
import type { Dialect, Query } from '../../src/source/dialect.js';
import { mssql } from '../../src/source/mssql/mssql.js';
import { PageReader } from '../../src/source/page-reader.js';
import { PageSizer } from '../../src/source/page-sizer.js';
import type { PreparedPlan, PreparedPlans } from '../../src/source/prepared-plans.js';
import { postgres } from '../../src/source/postgres/postgres.js';

const PLAN: ReadPlan = { relation: { table: 't' }, columns: ['id'], key: ['id'], cursor: null };
const BY_CURSOR: ReadPlan = { ...PLAN, columns: ['id', 'at'], cursor: 'at' };
const BOUNDS: ReadBounds = { after: null, cursorFrom: null, cursorBefore: null, throughKey: null };

type Row = readonly (string | null)[];
/** What the database answers to a query: rows, whether some were left out as too wide, the codes of the columns' types, or an error. */
type Reply =
  | {
      readonly rows: readonly Row[];
      readonly cut?: boolean;
      readonly codes?: readonly string[];
      readonly notFound?: boolean;
    }
  | Error;

interface Played {
  readonly plan?: ReadPlan;
  readonly unique?: boolean;
  readonly keyType?: SourceType;
  readonly nullIn?: string;
  readonly dialect?: Dialect;
  /** A column with values of several classes. */
  readonly severalIn?: string;
  readonly readsTable?: boolean;
}

/** A reader whose queries get these replies, one after the other; the last one stands for all that follow. */
function readerOf(
  replies: readonly Reply[],
  {
    plan = PLAN,
    unique = false,
    keyType = 'text',
    nullIn,
    severalIn,
    readsTable = true,
    dialect = postgres,
  }: Played = {},
) {
  const column = (name: string) => ({ name, type: { type: name === 'id' ? keyType : 'text', databaseType: 'text' } });
  const sizer = new PageSizer(60);
  const prepared = {
    id: 'page',
    lookahead: unique ? 0 : 1,
    relation: plan.relation,
    columns: plan.columns.map(column),
    key: plan.key.map(column),
    cursor: plan.cursor === null ? null : column(plan.cursor),
    unique,
    readsTable,
    distinct: false,
    described: [],
    sizer,
    codes: null,
    codesByValues: null,
  } as unknown as PreparedPlan;
  const asked: {
    readonly sql: string;
    readonly bindings: Query['bindings'];
    readonly name?: string;
    readonly budget?: number;
  }[] = [];
  const log: string[] = [];
  const mayRetry: boolean[] = [];
  const database = {
    dialect,
    hasNull: (_: unknown, name: string) => {
      log.push(`NULL in ${name}?`);
      return Promise.resolve(name === nullIn);
    },
    hasSeveralClasses: (_: unknown, name: string) => {
      log.push(`several classes in ${name}?`);
      return Promise.resolve(name === severalIn);
    },
    retry: async (read: () => Promise<unknown>, onTimeout: () => boolean) => {
      mayRetry.push(onTimeout());
      return read();
    },
    errorOfValues: (
      error: Error,
      { relation, columns }: { relation: { table: string }; columns: readonly { name: string }[] },
      values: unknown,
    ) =>
      Promise.resolve(
        new Error(
          `${error.message}: ${relation.table} ${columns.map(({ name }) => name).join()} ${JSON.stringify(values)}`,
        ),
      ),
    session: {
      run: ({ sql, bindings }: Query, options: { name?: string; budget?: number }) => {
        const reply = replies[Math.min(asked.length, replies.length - 1)]!;
        asked.push({ sql, bindings, ...options });
        if (reply instanceof Error) return Promise.reject(reply);
        const { codes = plan.columns, ...page } = reply;
        return Promise.resolve({ ...page, fields: codes.map((code) => ({ code })) });
      },
    },
  } as unknown as ConnectedDatabase;
  const plans = {
    of: () => Promise.resolve(prepared),
    forget: () => {
      log.push('forget');
      prepared.codes = null;
    },
  } as unknown as PreparedPlans;
  const reader = new PageReader(database, plans);
  const read = async (limit = 100, bounds = BOUNDS): Promise<Row[]> => [
    ...(await reader.readPage(plan, bounds, limit)).rows,
  ];
  return { reader, read, asked, log, mayRetry, sizer, prepared };
}

const after = (key: string, cursor: string | null = null): ReadBounds => ({ ...BOUNDS, after: { cursor, key: [key] } });

describe('a key that may not be unique', () => {
  it('has one row more asked for, which is not part of the page', async () => {
    const { read, asked } = readerOf([{ rows: [['a'], ['b'], ['c']] }]);
    expect(await read(2)).toEqual([['a'], ['b']]);
    expect(asked[0]!.bindings).toEqual([3]);
    expect(await readerOf([{ rows: [['a'], ['b']] }]).read(2)).toEqual([['a'], ['b']]);
  });

  it.each<[string, SourceType, string, string]>([
    ['the same text', 'text', 'b', 'b'],
    ['the same number, written differently', 'decimal', '1.0', '1.00'],
    ['the same whole number', 'decimal', '10', '10.0'],
    ['the same fraction, with a zero more', 'decimal', '1.1', '1.10'],
    ['the same fraction, with two', 'decimal', '1.1', '1.100'],
    ['the same fraction, with a zero inside', 'decimal', '1.01', '1.010'],
    ['zero and minus zero', 'float', '0', '-0'],
  ])('is refused if the last row and the next have %s', async (_, keyType, last, next) => {
    const page = readerOf([{ rows: [['0.5'], [last], [next]] }], { keyType }).read(2);
    await expect(page).rejects.toMatchObject({
      code: 'source_key_unusable',
      message: expect.stringContaining('several rows share it') as string,
    });
  });

  it.each<[string, SourceType, string, string]>([
    ['texts that are equal as numbers', 'text', '1.0', '1.00'],
    ['numbers that differ in the last digit', 'decimal', '1.10', '1.11'],
    ['numbers that differ in their zeros', 'decimal', '10', '100'],
    ['numbers that differ before a last zero', 'decimal', '1.10', '1.20'],
    ['numbers that differ by a point', 'decimal', '1.05', '15'],
    ['numbers that differ by a zero inside', 'decimal', '1.101', '1.11'],
    ['floats that differ', 'float', '0.1', '0.2'],
  ])('is not refused if the last row and the next have %s', async (_, keyType, last, next) => {
    expect(await readerOf([{ rows: [['0.5'], [last], [next]] }], { keyType }).read(2)).toHaveLength(2);
  });

  it('is refused for two rows within the page, unless they are counted', async () => {
    const rows = [['a'], ['b'], ['b'], ['c']];
    await expect(readerOf([{ rows }]).read(3)).rejects.toThrow('several rows share it');
    await expect(readerOf([{ rows }]).read(9)).rejects.toThrow('several rows share it');
    const plan = { ...PLAN, countsSharedKeys: true };
    expect(await readerOf([{ rows }], { plan }).read(3)).toEqual([['a'], ['b'], ['b']]);
    expect(await readerOf([{ rows }], { plan }).read(9)).toHaveLength(4);
    await expect(readerOf([{ rows }], { plan }).read(2)).rejects.toThrow('several rows share it');
  });

  it('is looked at in bytes, if the rows still are', async () => {
    const keys = ['a', 'b', 'a'];
    const texts = keys.map((key) => [key]);
    const bytes = Object.assign(texts, { inBytes: (index: number) => ({ text: () => keys[index]! }) });
    await expect(readerOf([{ rows: bytes }]).read(9)).rejects.toThrow('several rows share it');
    keys[2] = 'c';
    expect(await readerOf([{ rows: bytes }]).read(9)).toHaveLength(3);
  });

  it('is refused for the same key at another time, too, unless the database gives a row twice that moves', async () => {
    const pages = (...ats: (string | null)[]) => [{ rows: ats.map((at) => ['a', at]) }];
    for (const [one, other] of [
      ['1', '2'],
      ['1', '1'],
      [null, '1'],
    ] as const)
      await expect(readerOf(pages(one, other), { plan: BY_CURSOR }).read(1)).rejects.toThrow('several rows share it');
    const moving = { plan: BY_CURSOR, dialect: mssql };
    expect(await readerOf(pages('1', '2'), moving).read(9)).toHaveLength(2);
    expect(await readerOf(pages(null, '1'), moving).read(9)).toHaveLength(2);
    await expect(readerOf(pages('1', '1'), moving).read(9)).rejects.toThrow('several rows share it');
    await expect(readerOf(pages(null, null), moving).read(9)).rejects.toThrow('several rows share it');
    await expect(readerOf([{ rows: [['a'], ['a']] }], { dialect: mssql }).read(9)).rejects.toThrow('several');
  });

  it('of several columns is refused if all of them are the same', async () => {
    const plan: ReadPlan = { ...PLAN, columns: ['shop', 'id'], key: ['shop', 'id'] };
    const of = (...rows: Row[]) => readerOf([{ rows }], { plan, keyType: 'decimal' }).read(9);
    expect(await of(['north', '1'], ['north', '2'], ['south', '1'])).toHaveLength(3);
    await expect(of(['north', '1'], ['south', '1'], ['north', '1.0'])).rejects.toThrow(
      'key shop, id does not identify',
    );
  });

  it.each<SourceType>(['float', 'decimal'])(
    'is not refused if a %s is not set and the next one is zero',
    async (keyType) => {
      for (const pair of [
        [[null], ['0']],
        [['0'], [null]],
      ])
        expect(await readerOf([{ rows: pair }], { keyType }).read(1)).toHaveLength(1);
    },
  );

  it('has the rows of the page, and no more, whichever way they are looked at', async () => {
    const rows = Object.assign([['a'], ['b'], ['c']], {
      inBytes: (index: number) => ({ text: () => `bytes of ${index}` }),
    });
    const { reader } = readerOf([{ rows }]);
    const page = (await reader.readPage(PLAN, BOUNDS, 2)).rows;
    expect(page.length).toBe(2);
    expect([0, 1, 2, -1, -2, -3].map((index) => page.at(index))).toEqual([
      ['a'],
      ['b'],
      undefined,
      ['b'],
      ['a'],
      undefined,
    ]);
    expect(page.inBytes?.(1).text(0)).toBe('bytes of 1');
    const plain = (await readerOf([{ rows: [['a'], ['b']] }]).reader.readPage(PLAN, BOUNDS, 1)).rows;
    expect(plain).not.toHaveProperty('inBytes');
  });

  it('is looked at for NULL before the first page, and is refused if there is one', async () => {
    const { read, log } = readerOf([{ rows: [['b']] }]);
    await read();
    expect(log).toEqual(['NULL in id?']);
    await read(100, after('a'));
    expect(log).toHaveLength(1);
    await expect(readerOf([{ rows: [] }], { nullIn: 'id' }).read()).rejects.toThrow('id is NULL in a row');
  });
});

it('is refused if the database does not find the last row by its texts', async () => {
  const { read } = readerOf([{ rows: [['a'], ['b']], notFound: true }], { unique: true });
  await expect(read(2)).rejects.toThrow('does not find a row by the text of its key');
});

it('is looked at in a view for values of several classes, with the cursor', async () => {
  const view = { plan: BY_CURSOR, readsTable: false };
  const { read, log } = readerOf([{ rows: [['a', '1']] }], view);
  await read();
  expect(log).toEqual(['NULL in id?', 'several classes in id?', 'several classes in at?']);
  for (const severalIn of ['id', 'at'])
    await expect(readerOf([{ rows: [] }], { ...view, severalIn }).read()).rejects.toThrow(
      `${severalIn} has values of more than one type`,
    );
});

it('asks for no row more, and not for NULL, if the key is unique', async () => {
  const { read, asked, log } = readerOf([{ rows: [['a'], ['b']] }], { unique: true });
  expect(await read(2)).toEqual([['a'], ['b']]);
  expect(asked[0]!.bindings).toEqual([2]);
  expect(log).toEqual([]);
});

describe('a page that outgrows its budget', () => {
  it('ends where it was cut, with the last row only looked at', async () => {
    const { read, asked, sizer } = readerOf([{ rows: [['a'], ['b'], ['c']], cut: true }]);
    expect(await read()).toEqual([['a'], ['b']]);
    expect(asked).toHaveLength(1);
    expect(sizer.limit(100)).toBe(3);
  });

  it('of one row is read all the same, without what was only looked at', async () => {
    const { read, asked } = readerOf([{ rows: [['a']], cut: true }, { rows: [['a'], ['b']] }]);
    expect(await read()).toEqual([['a']]);
    expect(asked.map(({ bindings, budget }) => [bindings[0], budget === undefined])).toEqual([
      [101, false],
      [2, true],
    ]);
  });

  it('refuses a tie behind an oversized row', async () => {
    const page = readerOf([{ rows: [['a']], cut: true }, { rows: [['a'], ['a']] }]).read();
    await expect(page).rejects.toThrow('several rows share it');
  });

  it('of no row that fits is asked for once more if the key is unique, too', async () => {
    const { read, asked, sizer } = readerOf([{ rows: [], cut: true }, { rows: [['a']] }], { unique: true });
    expect(await read()).toEqual([['a']]);
    expect(asked.map(({ bindings }) => bindings[0])).toEqual([100, 1]);
    expect(sizer.limit(100)).toBe(1);
    const two = readerOf([{ rows: [['a']], cut: true }], { unique: true });
    expect(await two.read()).toEqual([['a']]);
    expect(two.asked).toHaveLength(1);
  });

  it('is estimated from some of its rows', async () => {
    const wide = readerOf([{ rows: Array.from({ length: 100 }, () => ['x'.repeat(1000)]) }], { unique: true });
    wide.sizer.observe({ rows: 100, characters: 1, milliseconds: 1e9, cut: false });
    expect(wide.sizer.limit(1e6)).toBe(50);
    await wide.read();
    expect(wide.sizer.limit(1e6)).toBe(100);
    const huge = readerOf([{ rows: Array.from({ length: 100 }, () => ['x'.repeat(1_000_000)]) }], { unique: true });
    huge.sizer.observe({ rows: 100, characters: 1, milliseconds: 1e9, cut: false });
    await huge.read();
    expect(huge.sizer.limit(1e6)).toBe(8);
    const mixed = readerOf([{ rows: Array.from({ length: 100 }, (_, i) => ['x'.repeat(i === 0 ? 1 : 1_000_000)]) }], {
      unique: true,
    });
    mixed.sizer.observe({ rows: 100, characters: 1, milliseconds: 1e9, cut: false });
    await mixed.read();
    expect(mixed.sizer.limit(1e6)).toBe(8);
    const usual = readerOf([{ rows: [['a']] }], { unique: true });
    await usual.read();
    expect(usual.sizer.limit(1e6)).toBe(1e6);
  });
});

describe('the database does not find the next row', () => {
  it.each([
    ['as the first', [['a'], ['b']]],
    ['as the last', [['b'], ['a']]],
  ])('if the page has the row %s after which it was to begin', async (_, rows) => {
    await expect(readerOf([{ rows }], { unique: true }).read(2, after('a'))).rejects.toMatchObject({
      code: 'source_key_unusable',
      message: expect.stringContaining('does not find a row by the text of its key') as string,
    });
  });

  it('if the last row has text that cannot be written, in its key or in its cursor', async () => {
    const surrogate = '\ud800';
    const ofKey = readerOf([{ rows: [['a'], [surrogate]] }], { unique: true });
    await expect(ofKey.read()).rejects.toThrow('id of a row is not valid text');
    const ofCursor = readerOf([{ rows: [['a', surrogate]] }], { unique: true, plan: BY_CURSOR });
    await expect(ofCursor.read()).rejects.toThrow('at of a row is not valid text');
    const inside = readerOf([{ rows: [[surrogate], ['a']] }], { unique: true });
    expect(await inside.read()).toHaveLength(2);
  });

  it('but it does if only a part of the key is the same', async () => {
    const plan: ReadPlan = { ...PLAN, columns: ['shop', 'id'], key: ['shop', 'id'] };
    const { reader } = readerOf([{ rows: [['north', '2']] }], { unique: true, plan });
    const bounds: ReadBounds = { ...BOUNDS, after: { cursor: null, key: ['north', '1'] } };
    expect([...(await reader.readPage(plan, bounds, 2)).rows]).toEqual([['north', '2']]);
  });

  it('but it does if the key is the same at another time, or there is no row', async () => {
    const later = readerOf([{ rows: [['a', '2']] }], { unique: true, plan: BY_CURSOR });
    expect(await later.read(2, after('a', '1'))).toEqual([['a', '2']]);
    const same = readerOf([{ rows: [['a', '1']] }], { unique: true, plan: BY_CURSOR });
    await expect(same.read(2, after('a', '1'))).rejects.toThrow('does not find a row');
    expect(await readerOf([{ rows: [] }], { unique: true }).read(2, after('a'))).toEqual([]);
  });
});

describe('a table that is altered while it is read', () => {
  it('has its plan prepared anew, and the page read again', async () => {
    const { read, asked, log, prepared } = readerOf(
      [{ rows: [['a']] }, { rows: [['b']], codes: ['another'] }, { rows: [['B']], codes: ['another'] }],
      { unique: true },
    );
    expect(await read()).toEqual([['a']]);
    expect(log).toEqual([]);
    expect(await read(100, after('a'))).toEqual([['B']]);
    expect(log).toEqual(['forget']);
    expect(asked).toHaveLength(3);
    expect(prepared.codes).toBe('["another"]');
  });
});

describe('a query that fails', () => {
  const timeout = new PartnerSyncError('source_query_failed', 'too slow', { timedOut: true });
  const other = new PartnerSyncError('source_query_failed', 'denied', {});

  it('for its time asks for a quarter of the rows next, as long as there are fewer to ask for', async () => {
    const { read, sizer, mayRetry } = readerOf([timeout], { unique: true });
    await expect(read(100)).rejects.toThrow('too slow');
    expect(sizer.limit(1000)).toBe(25);
    await expect(read(1)).rejects.toThrow('too slow');
    expect(mayRetry).toEqual([true, false]);
  });

  it('for another reason is no reason to ask for less', async () => {
    const { read, sizer } = readerOf([other], { unique: true });
    await expect(read(100)).rejects.toThrow('denied');
    expect(sizer.limit(1000)).toBe(1000);
  });

  it('says what it was about', async () => {
    const { read } = readerOf([new Error('the server is away')], { unique: true });
    await expect(read()).rejects.toThrow('reading t');
  });

  it('for values that a column cannot hold has the columns looked at', async () => {
    const whereIn = { columns: ['at', 'id'], values: [['x', 'y']] };
    const { read } = readerOf([other], { unique: true, plan: BY_CURSOR });
    await expect(read(100, { ...BOUNDS, whereIn })).rejects.toThrow('denied: t at,id [["x","y"]]');
  });
});

it('names the statement by the bounds that it has, and gives one with a list of values no name', async () => {
  const { read, asked } = readerOf([{ rows: [] }], { unique: true, plan: BY_CURSOR });
  await read(10);
  await read(10, { ...BOUNDS, cursorFrom: '1' });
  await read(10, { after: { cursor: '1', key: ['a'] }, cursorFrom: '1', cursorBefore: '2', throughKey: ['z'] });
  await read(10, { ...BOUNDS, whereIn: { columns: ['id'], values: [['x']] } });
  expect(asked.map(({ name }) => name)).toEqual(['page_0000', 'page_0100', 'page_1111', undefined]);
});
