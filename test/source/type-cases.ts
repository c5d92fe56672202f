/** Column types of each database with their boundary values: what must arrive, and the content of docs/types.md. */
import type { TestDialectName } from './dialect-databases.js';
import { MARIADB_CASES } from './type-cases/mariadb.js';
import { MYSQL_CASES } from './type-cases/mysql.js';
import { POSTGRESQL_CASES } from './type-cases/postgresql.js';
import { SQLITE_CASES } from './type-cases/sqlite.js';
import type { TypeCase } from './type-cases/type-case.js';

export { deadLetter, type DeadLetter, type TypeCase } from './type-cases/type-case.js';

/** What has to be there before the tables. */
export const SETUP: Readonly<Record<TestDialectName, string>> = {
  PostgreSQL: `
    DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = ''UTC''', current_database()); END $$;
    CREATE EXTENSION citext;
    CREATE EXTENSION hstore;
    CREATE TYPE mood AS ENUM ('low', 'high');
    CREATE TYPE place AS (street text, no int);
    CREATE DOMAIN price AS numeric(12,2) CHECK (VALUE >= 0);
    CREATE DOMAIN net_price AS price;
    CREATE DOMAIN mail AS citext;
    CREATE DOMAIN moods AS mood[];
    CREATE DOMAIN some_mood AS mood;`,
  // Zero dates are refused by new servers and there in old ones.
  MariaDB: `SET sql_mode = ''`,
  MySQL: `SET sql_mode = ''`,
  SQLite: 'SELECT 1',
};

export const TYPE_CASES: Readonly<Record<TestDialectName, readonly TypeCase[]>> = {
  PostgreSQL: POSTGRESQL_CASES,
  MariaDB: MARIADB_CASES,
  MySQL: MYSQL_CASES,
  SQLite: SQLITE_CASES,
};
