/** An SQLite file for an administrator. */
import type { SourceAdministrator } from '../../domain/source/feed-installation.js';
import type { SourceConfig } from '../../domain/sync/sync.js';
import { administratorOf } from '../administrator.js';
import { DATABASE_SQL } from './change-table/sqlite-change-table.js';
import { openWritingSqliteSession } from './session.js';
import { sqlite } from './sqlite.js';

/** Opens the file at the first use. */
export const openSqliteAdministrator = (config: SourceConfig): SourceAdministrator =>
  administratorOf(sqlite, openWritingSqliteSession(config), DATABASE_SQL);
