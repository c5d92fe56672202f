/** Properties of keyset pagination on real servers: each row of any table once, in one order, at every page size. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Source } from '../../src/domain/source/source.js';
import { inCampaign } from '../campaign.js';
import { here, TEST_DIALECTS, type TestDatabase, type TestDialectName } from './dialect-databases.js';
import { ALL, open, plan, readAll } from './reading.js';

/** Types of key columns, with values as SQL literals; equal values have equal literals. */
const whole = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer()).map(String);
const huge = fc.oneof(
  fc.bigInt({ min: -3n, max: 3n }),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.bigInt({ min: 2n ** 53n - 2n, max: 2n ** 53n + 2n }),
);
const decimal = fc.integer({ min: -99_999, max: 99_999 }).map((cents) => (cents / 100).toFixed(2));
const day = fc.integer({ min: 0, max: 40 }).map((n) => `'${new Date(n * 86_400_000).toISOString().slice(0, 10)}'`);
/** Texts that collations order in ways of their own or take for equal, and that quoting may break. */
const letters = (alphabet: string, maxLength: number) =>
  fc
    .array(fc.constantFrom(...alphabet), { maxLength })
    .map((characters) => `'${characters.join('').replaceAll("'", "''")}'`);
const text = fc.oneof(letters('aAeé', 2), letters('aAbéeßs-_%\'"😀1٣z', 4));
const uuid = fc.uuid().map((id) => `'${id}'`);

type Kind = readonly [ddl: string, values: fc.Arbitrary<string>];
interface Case {
  readonly kinds: readonly Kind[];
  /** A column for stamps to the microsecond. */
  readonly stamp: string;
}
const big: fc.Arbitrary<string> = huge.map(String);
const CASES: Readonly<Record<TestDialectName, Case>> = {
  PostgreSQL: {
    kinds: [
      ['integer', whole],
      ['bigint', big],
      ['numeric', decimal],
      ['text', text],
      ['text COLLATE "und-x-icu"', text],
      ['uuid', uuid],
      ['date', day],
    ],
    stamp: 'timestamptz',
  },
  MariaDB: {
    kinds: [
      ['int', whole],
      ['bigint', big],
      ['decimal(12, 2)', decimal],
      ['varchar(40)', text],
      ['char(36)', uuid],
      ['date', day],
    ],
    stamp: 'datetime(6)',
  },
  MySQL: {
    kinds: [
      ['int', whole],
      ['bigint', big],
      ['decimal(12, 2)', decimal],
      ['varchar(40)', text],
      ['varchar(40) COLLATE utf8mb4_0900_as_cs', text],
      ['char(36)', uuid],
      ['date', day],
    ],
    stamp: 'datetime(6)',
  },
  SQLite: {
    kinds: [
      ['INTEGER', big],
      ['DECIMAL(12, 2)', decimal],
      ['TEXT', text],
      ['TEXT COLLATE NOCASE', text],
      ['DATE', day],
    ],
    stamp: 'TIMESTAMP',
  },
};

interface Table {
  readonly kinds: readonly Kind[];
  readonly rows: readonly { readonly key: readonly string[]; readonly stamp: number }[];
}

/** One to three key columns; keys that differ in bytes, few stamps, so that most rows share theirs. */
const tables = (kinds: readonly Kind[]): fc.Arbitrary<Table> =>
  fc
    .oneof(
      fc.constantFrom(...kinds).map((kind) => [kind]),
      fc.array(fc.constantFrom(...kinds), { minLength: 2, maxLength: 3 }),
    )
    .chain((chosen) =>
      fc.record({
        kinds: fc.constant(chosen),
        rows: fc.uniqueArray(
          fc.record({ key: fc.tuple(...chosen.map(([, values]) => values)), stamp: fc.integer({ min: 0, max: 5 }) }),
          { selector: ({ key }) => key.join(), maxLength: 40, size: 'max' },
        ),
      }),
    );

describe.each(here(TEST_DIALECTS))('$name', (dialect) => {
  const { kinds, stamp } = CASES[dialect.name];
  let database: TestDatabase;
  let source: Source;
  beforeAll(async () => {
    database = await dialect.create();
    source = open(database.url);
  });
  afterAll(async () => {
    await source.close();
    await database.drop();
  });

  let made = 0;
  /** Makes the table, with its rows in random order, and answers its name. */
  async function create({ kinds: chosen, rows }: Table): Promise<string> {
    const name = `t${made++}`;
    const columns = chosen.map(([ddl], i) => `k${i} ${ddl} NOT NULL`).join(', ');
    const values = rows.map(
      ({ key, stamp: at }, n) => `(${[...key, `'2020-01-01 00:00:00.00000${at}'`, n].join(', ')})`,
    );
    await database.run(`CREATE TABLE ${name} (${columns}, at ${stamp} NOT NULL, n integer NOT NULL)`);
    if (values.length > 0) await database.run(`INSERT INTO ${name} VALUES ${values.join(', ')}`);
    return name;
  }
  const numbersOf = (rows: readonly string[]): number[] => rows.map((row) => Number(row.split('|').at(-1)));
  const sorted = (numbers: readonly number[]): number[] => [...numbers].sort((a, b) => a - b);
  const holds = <T>(property: fc.IAsyncProperty<T>): Promise<void> =>
    fc.assert(property, { numRuns: inCampaign(25, 60) });

  it('reads each row of a random table once by key, and by cursor and key, in an order that does not depend on pages', async () => {
    await holds(
      fc.asyncProperty(tables(kinds), fc.integer({ min: 1, max: 7 }), async (table, size) => {
        const name = await create(table);
        const key = table.kinds.map((_, i) => `k${i}`);
        for (const cursor of [null, 'at']) {
          const reading = plan(name, key, cursor, ['n']);
          const paged = numbersOf(await readAll(source, reading, size));
          expect(sorted(paged)).toEqual(table.rows.map((_, n) => n));
          expect(paged).toEqual(numbersOf(await readAll(source, reading, 1000)));
          if (cursor !== null) {
            const stamps = paged.map((n) => table.rows[n]!.stamp);
            expect(stamps).toEqual(sorted(stamps));
          }
        }
        await database.run(`DROP TABLE ${name}`);
      }),
    );
  });

  it('reads the rows between two timestamps, including the first and excluding the second', async () => {
    const edge = fc.integer({ min: 0, max: 5 });
    await holds(
      fc.asyncProperty(tables(kinds), edge, edge, async (table, from, before) => {
        const name = await create(table);
        const reading = plan(
          name,
          table.kinds.map((_, i) => `k${i}`),
          'at',
          ['n'],
        );
        const text = (at: number): string => `2020-01-01 00:00:00.00000${at}${stamp === 'timestamptz' ? '+00' : ''}`;
        const bounds = { ...ALL, cursorFrom: text(from), cursorBefore: text(before) };
        const read = numbersOf(await readAll(source, reading, 3, bounds));
        const wanted = table.rows.flatMap((row, n) => (row.stamp >= from && row.stamp < before ? [n] : []));
        expect(sorted(read)).toEqual(wanted);
        await database.run(`DROP TABLE ${name}`);
      }),
    );
  });
});
