/** What every kind of database must do: the same tests on a real server, or file, of each. */
import { afterAll, beforeAll, describe } from 'vitest';
import type { Source } from '../../src/domain/source/source.js';
import { here, TEST_DIALECTS, type TestDatabase } from './dialect-databases.js';
import { catalogue } from './dialects/catalogue.js';
import { faults, sessions } from './dialects/faults.js';
import { largeTables, partitions } from './dialects/large-tables.js';
import { names } from './dialects/names.js';
import type { Opened } from './dialects/opened.js';
import { pages } from './dialects/pages.js';
import { openTransactions, times } from './dialects/times.js';
import { open } from './reading.js';

for (const dialect of here(TEST_DIALECTS))
  describe(dialect.name, () => {
    let database: TestDatabase;
    let source: Source;
    beforeAll(async () => {
      database = await dialect.create();
      source = open(database.url);
    });
    afterAll(async () => {
      await source?.close();
      await database?.drop();
    });
    const opened: Opened = {
      dialect,
      get database() {
        return database;
      },
      get source() {
        return source;
      },
    };

    for (const tests of [pages, names, largeTables, catalogue, times, faults]) tests(opened);
    if (dialect.name !== 'SQLite') for (const tests of [partitions, openTransactions, sessions]) tests(opened);
  });
