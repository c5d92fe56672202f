/** A session that may write: it installs and removes change feeds for a person, and nothing else uses it. */
import { PartnerSyncError } from '../domain/errors.js';
import type { SourceAdministrator } from '../domain/source/feed-installation.js';
import type { Dialect, Session } from './dialect.js';
import { withSourceErrors } from './source-error.js';

/**
 * Makes a session an administrator's; it connects at its first use. Nothing is tried twice: a lost statement may have been
 * carried out.
 *
 * @param databaseSql asks for what {@link SourceAdministrator.assertDatabase} compares
 */
export function administratorOf(dialect: Dialect, session: Session, databaseSql: string): SourceAdministrator {
  const run = (what: string, sql: string) => withSourceErrors(dialect, what, () => session.run({ sql, bindings: [] }));
  return {
    async assertDatabase(database) {
      const { rows } = await run(
        "connecting as administrator (SOURCE_ADMIN_URL, or the sync's own connection)",
        `SELECT ${databaseSql}`,
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
