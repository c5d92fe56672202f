/** A PostgreSQL session for an administrator. */
import type { SourceAdministrator } from '../../domain/source/feed-installation.js';
import type { SourceConfig } from '../../domain/sync/sync.js';
import { administratorOf } from '../administrator.js';
import { DATABASE_SQL } from './changes/slot-parts.js';
import { postgres } from './postgres.js';
import { openWritingPostgresSession } from './session.js';

/** Opens the session; it connects at its first use. */
export const openPostgresAdministrator = (config: SourceConfig): SourceAdministrator =>
  administratorOf(postgres, openWritingPostgresSession(config), DATABASE_SQL);
