/** How to change the live demo's shop by hand: with psql, without showing a password, or without psql. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { EXAMPLE_EDITS } from './live-edits.js';
import { inClone } from './project.js';
import { writePrivate } from './stack-folder.js';

const SERVICE = 'shop';

/** The lines that say how. Writes a file from which psql learns the address. */
export function howToEdit(folder: string, url: string): string[] {
  const { hostname, port, username, password, pathname } = new URL(url);
  const file = join(folder, 'pg_service.conf');
  const settings = { host: hostname, port, dbname: pathname.slice(1), user: username, password };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${decodeURIComponent(value)}`);
  writePrivate(file, `[${SERVICE}]\n${lines.join('\n')}\n`);
  const here = relative(process.cwd(), file);
  const psql = `PGSERVICEFILE=${here.startsWith('..') ? file : here} psql service=${SERVICE}`;
  const command = `${inClone() ? 'npm run demo --' : 'npx partner-sync demo'} --live --sql`;
  return [
    ...(isOnPath('psql')
      ? ['In another terminal, change rows with psql:', `  ${psql}`]
      : ['In another terminal, change rows (psql is not installed here):', `  ${command} "<statement>"`]),
    ...(process.stdin.isTTY ? ['or type statements here, such as:'] : ['such as:']),
    ...EXAMPLE_EDITS.map((edit) => `  ${edit}`),
  ];
}

function isOnPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
