/** Mutants of SQL change what a statement does, and nothing but SQL. */
import { expect, it } from 'vitest';

interface SqlMutant {
  readonly line: number;
  readonly code: string;
  readonly mutant: string;
}
const { sqlMutantsOf } = (await import(new URL('../../scripts/mutation/sql-mutants.mjs', import.meta.url).href)) as {
  readonly sqlMutantsOf: (file: string, source: string) => readonly SqlMutant[];
};

const mutantsOf = (sql: string): string[] =>
  sqlMutantsOf('a.ts', `const sql = \`${sql}\`;\n`).map((each) => each.mutant);
const within = (sql: string): string => `const sql = \`${sql}\`;`;

it('change comparisons, conditions and how they are connected', () => {
  expect(mutantsOf('SELECT a FROM t WHERE b <= 1 AND c IS NULL')).toEqual(
    [
      'SELECT a FROM t WHERE true OR b <= 1 AND c IS NULL',
      'SELECT a FROM t WHERE b < 1 AND c IS NULL',
      'SELECT a FROM t WHERE b <= 1 OR c IS NULL',
      'SELECT a FROM t WHERE b <= 1 AND c IS NOT NULL',
    ].map(within),
  );
});

it('change `=` only where it compares, and no operator that has `<` or `>` in it', () => {
  expect(mutantsOf("UPDATE t SET a = 1, b = c->>'d' WHERE e = 2")).toEqual(
    ["UPDATE t SET a = 1, b = c->>'d' WHERE true OR e = 2", "UPDATE t SET a = 1, b = c->>'d' WHERE e <> 2"].map(within),
  );
});

it('change no assignment behind a condition', () => {
  expect(mutantsOf('UPDATE t SET a = b OR c, d = e')).toEqual([within('UPDATE t SET a = b AND c, d = e')]);
});

it('know the clause of a condition that comes after a value of TypeScript', () => {
  expect(mutantsOf('SELECT a FROM ${table} WHERE b = ${c} AND d = 1')).toContain(
    within('SELECT a FROM ${table} WHERE b = ${c} AND d <> 1'),
  );
});

it('leave out locks', () => {
  expect(mutantsOf('SELECT FROM t FOR NO KEY UPDATE SKIP LOCKED')).toEqual([within('SELECT FROM t ')]);
});

it('leave comments, quoted words, BETWEEN and other texts alone', () => {
  expect(mutantsOf("SELECT a -- AND b = c\n FROM t ORDER BY 'x AND y'")).toEqual([]);
  expect(mutantsOf('SELECT FROM t JOIN u ON a BETWEEN 1 AND 2')).toEqual([]);
  expect(sqlMutantsOf('a.ts', "const words = 'one AND another';")).toEqual([]);
});

it('say on which line they are', () => {
  expect(sqlMutantsOf('a.ts', 'const sql = `SELECT a\n  FROM t WHERE b > 1`;\n').map(({ line }) => line)).toEqual([
    2, 2,
  ]);
});
