/** The command line of a campaign: what it takes, and what it refuses. */
import { expect, it } from 'vitest';

interface Options {
  readonly kept: Readonly<Record<string, number | string | boolean | null>>;
}

const { optionsOf } = (await import(new URL('../../scripts/campaign/options.mjs', import.meta.url).href)) as {
  readonly optionsOf: (args: readonly string[]) => Options;
};

it('goes by a cursor of PostgreSQL unless it is told to follow a feed, over fewer rows that change faster', () => {
  expect(optionsOf([]).kept).toMatchObject({ feed: null, source: 'postgres', kills: 25, rows: 1_000_000, rate: 20 });
  expect(optionsOf(['--soak', '5']).kept).toMatchObject({ soak: 5, rate: 1000 });
  expect(optionsOf(['--soak', '5', '--feed', 'slot']).kept).toMatchObject({
    feed: 'slot',
    rows: 1_000_000,
    rate: 1000,
  });
  expect(optionsOf(['--feed', 'slot']).kept).toMatchObject({
    feed: 'slot',
    source: 'postgres',
    rows: 20_000,
    rate: 100,
  });
  expect(optionsOf(['--feed', 'slot', '--rows', '7']).kept).toMatchObject({ rows: 7 });
});

it.each(['postgres', 'mariadb', 'sqlite'])('follows a change table of %s', (source) => {
  expect(optionsOf(['--feed', 'table', '--source', source]).kept).toMatchObject({ feed: 'table', source });
});

it.each([
  [['--feed', 'log'], '--feed must be slot or table with --source postgres, got log'],
  [['--feed', 'slot', '--source', 'mariadb'], '--feed must be table with --source mariadb, got slot'],
  [['--source', 'sqlite'], '--source sqlite needs --feed table'],
  [['--source', 'oracle', '--feed', 'table'], '--source must be postgres, mariadb, sqlite, got oracle'],
  [
    ['--feed', 'table', '--source', 'mariadb', '--source-program', 'mariadbd'],
    '--source-program is for PostgreSQL only, and --source is mariadb',
  ],
  [['--kills', 'many'], '--kills must be a whole number, got many'],
])('refuses %j', (args, message) => {
  expect(() => optionsOf(args)).toThrow(message);
});
