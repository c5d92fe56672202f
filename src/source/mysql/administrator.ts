/** A session of MySQL or MariaDB for an administrator. */
import type { SourceAdministrator } from '../../domain/source/feed-installation.js';
import type { SourceConfig } from '../../domain/sync/sync.js';
import { administratorOf } from '../administrator.js';
import { DATABASE_SQL } from './change-table/table-parts.js';
import { mysql } from './mysql.js';
import { openWritingMysqlSession } from './session.js';

/** Opens the session; it connects at its first use. */
export const openMysqlAdministrator = (config: SourceConfig): SourceAdministrator =>
  administratorOf(mysql, openWritingMysqlSession(config), DATABASE_SQL);
