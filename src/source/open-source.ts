/** Opens a partner's database; the scheme of its address selects the dialect. */
import { PartnerSyncError } from '../domain/errors.js';
import type { OnRetry } from '../domain/monitoring/retries.js';
import { dialectOf, SOURCE_ADDRESSES, type SourceDialect } from '../domain/source/source-address.js';
import type { SourceAdministrator } from '../domain/source/feed-installation.js';
import type { Source } from '../domain/source/source.js';
import type { SourceConfig } from '../domain/sync/sync.js';
import { seconds } from '../domain/timeouts.js';
import { DatabaseSource } from './database-source.js';
import type { Dialect, Session } from './dialect.js';
import { mssql } from './mssql/mssql.js';
import { openMssqlSession } from './mssql/session.js';
import { mysql } from './mysql/mysql.js';
import { openMysqlAdministrator } from './mysql/administrator.js';
import { openMysqlSession } from './mysql/session.js';
import { postgres } from './postgres/postgres.js';
import { openPostgresAdministrator } from './postgres/administrator.js';
import { openPostgresSession } from './postgres/session.js';
import { openSqliteAdministrator } from './sqlite/administrator.js';
import { openSqliteSession } from './sqlite/session.js';
import { sqlite } from './sqlite/sqlite.js';

interface DialectEntry {
  readonly dialect: Dialect;
  readonly open: (config: SourceConfig) => Session;
  /** Opens what can change the database. Absent if nothing can be installed in it. */
  readonly openAdministrator?: (config: SourceConfig) => SourceAdministrator;
}

const DIALECTS: Readonly<Record<SourceDialect, DialectEntry>> = {
  postgres: { dialect: postgres, open: openPostgresSession, openAdministrator: openPostgresAdministrator },
  mysql: { dialect: mysql, open: openMysqlSession, openAdministrator: openMysqlAdministrator },
  mssql: { dialect: mssql, open: openMssqlSession },
  sqlite: { dialect: sqlite, open: openSqliteSession, openAdministrator: openSqliteAdministrator },
};

/**
 * A source that connects at its first use, which fails with `source_unreachable` if it cannot. Throws
 * `config_invalid` for an address of an unknown scheme. `onRetry` is told of reads that are repeated in place.
 */
export function openSource(config: SourceConfig, onRetry?: OnRetry): Source {
  const { dialect, open } = entryOf(config);
  return new DatabaseSource(dialect, open(config), config.statementTimeout, onRetry);
}

/**
 * Opens a connection that may change a partner's database, which sources never do: for what a person has asked to be
 * installed or removed. Throws `config_invalid` if nothing can be installed in a database of this kind, or if the
 * administrator's is of another kind than that of the `source`.
 */
export function openSourceAdministrator(connection: string, source: SourceConfig): SourceAdministrator {
  const config = { connection, poolMax: 1, statementTimeout: seconds('installationStatement') };
  const { dialect, openAdministrator } = entryOf(config);
  const { name } = entryOf(source).dialect;
  if (name !== dialect.name)
    throw new PartnerSyncError(
      'config_invalid',
      `SOURCE_ADMIN_URL is the address of a database of ${dialect.name}, and the source is one of ${name}; let both lead to the same database`,
    );
  if (openAdministrator === undefined)
    throw new PartnerSyncError('config_invalid', `source: nothing can be installed in ${dialect.name}`);
  return openAdministrator(config);
}

function entryOf({ connection }: SourceConfig): DialectEntry {
  const kind = dialectOf(connection);
  // The address may contain a password, so it is not quoted.
  if (kind === undefined)
    throw new PartnerSyncError('config_invalid', `the address of the source must be one of: ${SOURCE_ADDRESSES}`);
  return DIALECTS[kind];
}
