/** Opens a partner's database; the scheme of its address selects the dialect. */
import { PartnerSyncError } from '../domain/errors.js';
import type { OnRetry } from '../domain/monitoring/retries.js';
import { dialectOf, SOURCE_ADDRESSES, type SourceDialect } from '../domain/source/source-address.js';
import type { Source } from '../domain/source/source.js';
import type { SourceConfig } from '../domain/sync/sync.js';
import { DatabaseSource } from './database-source.js';
import type { Dialect, Session } from './dialect.js';
import { mssql } from './mssql/mssql.js';
import { openMssqlSession } from './mssql/session.js';
import { mysql } from './mysql/mysql.js';
import { openMysqlSession } from './mysql/session.js';
import { postgres } from './postgres/postgres.js';
import { openPostgresSession } from './postgres/session.js';
import { openSqliteSession } from './sqlite/session.js';
import { sqlite } from './sqlite/sqlite.js';

interface DialectEntry {
  readonly dialect: Dialect;
  readonly open: (config: SourceConfig) => Session;
}

const DIALECTS: Readonly<Record<SourceDialect, DialectEntry>> = {
  postgres: { dialect: postgres, open: openPostgresSession },
  mysql: { dialect: mysql, open: openMysqlSession },
  mssql: { dialect: mssql, open: openMssqlSession },
  sqlite: { dialect: sqlite, open: openSqliteSession },
};

/**
 * A source that connects at its first use, which fails with `source_unreachable` if it cannot. Throws
 * `config_invalid` for an address of an unknown scheme. `onRetry` is told of reads that are repeated in place.
 */
export function openSource(config: SourceConfig, onRetry?: OnRetry): Source {
  const kind = dialectOf(config.connection);
  // The address may contain a password, so it is not quoted.
  if (kind === undefined)
    throw new PartnerSyncError('config_invalid', `the address of the source must be one of: ${SOURCE_ADDRESSES}`);
  const { dialect, open } = DIALECTS[kind];
  return new DatabaseSource(dialect, open(config), config.statementTimeout, onRetry);
}
