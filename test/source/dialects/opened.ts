/** What the tests of every kind of database receive. */
import type { Source } from '../../../src/domain/source/source.js';
import type { TestDatabase, TestDialect } from '../dialect-databases.js';

/** Database and source are there once the tests run. */
export interface Opened {
  readonly dialect: TestDialect;
  readonly database: TestDatabase;
  readonly source: Source;
}
