/** A MySQL server of its own for one test file. */
import { constants, cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchServer, type LaunchedServer } from './launched-server.js';

/** `settings`: arguments of the server's own. */
export async function startMysql(settings: readonly string[] = []): Promise<LaunchedServer> {
  const packaged = process.env['TEST_MYSQL'];
  if (packaged === undefined)
    throw new Error('These tests need a MySQL server: npm run test:versions -- --no-record "MySQL 8.0" gets one.');
  const folder = mkdtempSync(join(tmpdir(), 'partner-sync-mysql-'));
  const data = join(folder, 'data');
  cpSync(join(packaged, 'data'), data, { recursive: true, mode: constants.COPYFILE_FICLONE });
  return launchServer({
    path: join(packaged, 'bin', 'mysqld'),
    scheme: 'mysql',
    folder,
    args: [
      `--basedir=${packaged}`,
      `--datadir=${data}`,
      ...(process.getuid?.() === 0 ? ['--user=root'] : []),
      // As the data was made.
      '--innodb-log-file-size=4M',
      '--mysqlx=OFF',
      // Unless a test wants it.
      '--ssl=OFF',
      // The numbers of `dialect-databases.ts`.
      '--cte-max-recursion-depth=10000000',
      ...settings,
    ],
  });
}
