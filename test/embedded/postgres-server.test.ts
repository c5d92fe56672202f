/** The embedded PostgreSQL keeps its data between runs, and recovers after a run that was killed. */
import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isAlive } from '../../src/embedded/is-alive.js';
import { startPostgres, type EmbeddedPostgres } from '../../src/embedded/postgres-server.js';

describe('the embedded PostgreSQL', () => {
  let root: string;
  let running: EmbeddedPostgres[];
  let said: string[];

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'partner-sync-postgres-test-'));
    chmodSync(root, 0o755);
    running = [];
    said = [];
  });
  afterEach(async () => {
    for (const postgres of running) await postgres.stop();
    rmSync(root, { recursive: true, force: true });
  });

  const start = async (): Promise<EmbeddedPostgres> => {
    const postgres = await startPostgres({ folder: join(root, 'postgres'), log: (line) => said.push(line) });
    running.push(postgres);
    return postgres;
  };

  it('keeps data, port and password when it is stopped and started again', async () => {
    const first = await start();
    await first.createDatabase('kept');
    await first.createDatabase('kept');
    await query(first.url('kept'), 'CREATE TABLE notes AS SELECT 42 AS answer');
    await first.stop();
    expect(isAlive(first.pid)).toBe(false);

    const second = await start();
    expect(second.url('kept')).toBe(first.url('kept'));
    expect(await query(second.url('kept'), 'SELECT answer FROM notes')).toEqual([{ answer: 42 }]);
    expect(said).toEqual([]);
  });

  it('is durable, sorts the same everywhere, listens only on this machine and keeps its password secret', async () => {
    const postgres = await start();
    const settings = `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commits,
      current_setting('listen_addresses') AS listens, datlocale AS locale, pg_encoding_to_char(encoding) AS encoding
      FROM pg_database WHERE datname = 'postgres'`;
    expect(await query(postgres.url('postgres'), settings)).toEqual([
      { fsync: 'on', commits: 'on', listens: '127.0.0.1', locale: 'C.UTF-8', encoding: 'UTF8' },
    ]);
    expect(statSync(join(root, 'postgres', 'password')).mode & 0o777).toBe(0o600);
    const wrong = new URL(postgres.url('postgres'));
    wrong.password = 'guess';
    await expect(query(wrong.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
  });

  it('starts again in the folder of a server that was killed', async () => {
    const first = await start();
    process.kill(-first.pid, 'SIGKILL');
    const second = await start();
    expect(await query(second.url('postgres'), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('stops a server that an earlier run left behind, and starts again', async () => {
    const leftBehind = await start();
    const second = await start();
    expect(isAlive(leftBehind.pid)).toBe(false);
    expect(said).toEqual([`Stopping the PostgreSQL that an earlier run left behind (pid ${leftBehind.pid})`]);
    expect(await query(second.url('postgres'), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });
});

describe.runIf(process.getuid?.() === 0)('the embedded PostgreSQL as root', () => {
  it('moves to the temporary folder, and says so, if its account cannot enter the project', async () => {
    const home = mkdtempSync(join(tmpdir(), 'partner-sync-closed-home-'));
    const said: string[] = [];
    const postgres = await startPostgres({ folder: join(home, 'project', 'postgres'), log: (line) => said.push(line) });
    await postgres.stop();
    const moved = /its data is in (\S+)\/postgres$/.exec(said.join('\n'))?.[1];
    expect(moved).toMatch(/partner-sync-data-[0-9a-f]{12}$/);
    rmSync(home, { recursive: true });
    rmSync(moved!, { recursive: true });
  });
});

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
