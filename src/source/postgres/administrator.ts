/** A PostgreSQL session that may write: it installs and removes change feeds for a person, and nothing else uses it. */
import { PartnerSyncError } from '../../domain/errors.js';
import type { SourceAdministrator } from '../../domain/source/feed-installation.js';
import type { SourceConfig } from '../../domain/sync/sync.js';
import { withSourceErrors } from '../source-error.js';
import { DATABASE_SQL } from './changes/slot-parts.js';
import { postgres } from './postgres.js';
import { openWritingPostgresSession } from './session.js';

/** Opens the session; it connects at its first use. Nothing is tried twice: a lost statement may have been carried out. */
export function openPostgresAdministrator(config: SourceConfig): SourceAdministrator {
  const session = openWritingPostgresSession(config);
  const run = (what: string, sql: string) => withSourceErrors(postgres, what, () => session.run({ sql, bindings: [] }));
  return {
    async assertDatabase(database) {
      const { rows } = await run(
        "connecting as administrator (SOURCE_ADMIN_URL, or the sync's own connection)",
        `SELECT ${DATABASE_SQL}`,
      );
      if (rows[0]![0] !== database)
        throw new PartnerSyncError(
          'config_invalid',
          "source: SOURCE_ADMIN_URL leads to another server or database than the sync's own connection, and nothing was run there; let both lead to the same one",
        );
    },
    async run({ sql }) {
      await run('the statement', sql);
    },
    close: () => session.close(),
  };
}
