/** TLS by the URL and its files, against servers with a certificate of their own authority. */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startPostgres } from '../../src/embedded/postgres-server.js';
import { isHere } from '../here.js';
import { POSTGRES_PROGRAM } from '../postgres-program.js';
import type { LaunchedServer } from './launched-server.js';
import { giveTo, startMariaDb } from './mariadb-server.js';
import { startMysql } from './mysql-server.js';
import { ALL, open } from './reading.js';

let folder: string;
const file = (name: string): string => join(folder, name);

function openssl(...args: string[]): void {
  const { status, stderr } = spawnSync('openssl', args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`openssl ${args[0]}: ${stderr}`);
}

/** A key, and a certificate for it that `signer` has signed. */
function certificate(name: string, subject: string, signer: string, extension = ''): void {
  openssl(
    'req',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    `${name}.key`,
    '-out',
    `${name}.csr`,
    '-subj',
    `/CN=${subject}`,
  );
  writeFileSync(file(`${name}.ext`), extension);
  openssl(
    'x509',
    '-req',
    '-in',
    `${name}.csr`,
    '-CA',
    `${signer}.crt`,
    '-CAkey',
    `${signer}.key`,
    '-CAcreateserial',
    '-out',
    `${name}.crt`,
    '-days',
    '2',
    '-extfile',
    `${name}.ext`,
  );
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'partner-sync-tls-'));
  chmodSync(folder, 0o755);
  for (const authority of ['ca', 'stranger'])
    openssl(
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      `${authority}.key`,
      '-out',
      `${authority}.crt`,
      '-subj',
      `/CN=${authority}`,
      '-days',
      '2',
    );
  // Made out to a name that the address below does not use, so that the check of the name shows.
  certificate('server', 'db.example.org', 'ca', 'subjectAltName=DNS:localhost');
  certificate('elsewhere', 'db.example.org', 'ca', 'subjectAltName=DNS:db.example.org');
  certificate('client', 'reader', 'ca');
  for (const name of readdirSync(folder)) chmodSync(file(name), 0o644);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Asks for one row; answers it, or the code and text of the refusal. */
async function ask(url: string, sql: string): Promise<unknown> {
  const source = open(url);
  onTestFinished(() => source.close());
  const read = { relation: { query: sql }, columns: ['v'], key: ['v'], cursor: null };
  try {
    return (await source.readPage(read, ALL, 1)).rows.at(0)![0];
  } catch (error) {
    return [(error as { code: string }).code, (error as Error).message];
  }
}

const refused = [`config_invalid`, expect.stringContaining('TLS: ') as string];

describe('PostgreSQL', () => {
  let url: URL;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    const home = mkdtempSync(join(tmpdir(), 'partner-sync-tls-pg-'));
    chmodSync(home, 0o755);
    const start = (settings: Record<string, string>) =>
      startPostgres({ folder: join(home, 'pg'), log: () => undefined, settings, ...POSTGRES_PROGRAM });
    // Started once for its folder: the key must belong to the account that the server runs under.
    await (await start({})).stop();
    const data = join(home, 'pg', 'data');
    const { uid, gid } = statSync(data);
    for (const name of ['server.key', 'server.crt']) {
      spawnSync('cp', [file(name), join(data, name)]);
      chownSync(join(data, name), uid, gid);
      chmodSync(join(data, name), 0o600);
    }
    const server = await start({ ssl: 'on' });
    url = new URL(server.url('postgres'));
    stop = async () => {
      await server.stop();
      rmSync(home, { recursive: true, force: true });
    };
  });
  afterAll(() => stop?.());
  const encrypted = 'SELECT ssl::text AS v FROM pg_stat_ssl WHERE pid = pg_backend_pid()';
  const at = (host: string, parameters: string): string => {
    const address = new URL(url);
    address.hostname = host;
    return `${address.href}${parameters}`;
  };

  it("is encrypted, and verifies the server's authority and name", async () => {
    expect(await ask(at('127.0.0.1', ''), encrypted)).toBe('false');
    expect(await ask(at('127.0.0.1', '?sslmode=no-verify'), encrypted)).toBe('true');
    const trusting = `?sslmode=verify-full&sslrootcert=${file('ca.crt')}`;
    expect(await ask(at('localhost', trusting), encrypted)).toBe('true');
    expect(await ask(at('127.0.0.1', trusting), encrypted)).toEqual(refused);
    expect(await ask(at('localhost', `?sslmode=verify-full&sslrootcert=${file('stranger.crt')}`), encrypted)).toEqual(
      refused,
    );
  });

  it('says what is wrong with a file', async () => {
    expect(await ask(at('localhost', `?sslmode=verify-full&sslrootcert=${file('no-such.crt')}`), encrypted)).toEqual([
      'config_invalid',
      expect.stringContaining('a file of the URL: ENOENT') as string,
    ]);
  });
});

const SERVERS = [
  { name: 'MariaDB', start: startMariaDb, status: 'information_schema.SESSION_STATUS' },
  { name: 'MySQL', start: startMysql, status: 'performance_schema.session_status' },
];

describe.each(SERVERS.filter(({ name }) => isHere(name)))('$name', ({ start, status }) => {
  let server: LaunchedServer;
  beforeAll(async () => {
    giveTo(file('server.key'));
    server = await start([
      '--ssl',
      `--ssl-ca=${file('ca.crt')}`,
      `--ssl-cert=${file('server.crt')}`,
      `--ssl-key=${file('server.key')}`,
    ]);
    const admin = await mysql.createConnection(server.url('mysql').replace('mariadb:', 'mysql:'));
    await admin.query(`CREATE USER known@'%' REQUIRE X509`);
    await admin.query(`GRANT SELECT ON *.* TO known@'%'`);
    await admin.end();
  });
  afterAll(() => server?.stop());
  const encrypted = `SELECT VARIABLE_VALUE <> '' AS v FROM ${status} WHERE VARIABLE_NAME = 'Ssl_cipher'`;
  const at = (host: string, parameters: string, user = 'root'): string =>
    `${server.url('mysql').replace('127.0.0.1', host).replace('root@', `${user}@`)}${parameters}`;

  it("is encrypted, and verifies the server's authority and name", async () => {
    expect(await ask(at('127.0.0.1', ''), encrypted)).toBe('0');
    expect(await ask(at('127.0.0.1', '?sslmode=no-verify'), encrypted)).toBe('1');
    const ca = `sslrootcert=${file('ca.crt')}`;
    expect(await ask(at('localhost', `?sslmode=verify-full&${ca}`), encrypted)).toBe('1');
    expect(await ask(at('localhost', `?${ca}`), encrypted)).toBe('1');
    // Of a number the driver would check the name localhost.
    expect(() => open(at('127.0.0.1', `?sslmode=verify-full&${ca}`))).toThrow('needs a host name');
    expect(await ask(at('127.0.0.1', `?sslmode=verify-ca&${ca}`), encrypted)).toBe('1');
    expect(await ask(at('127.0.0.1', `?sslmode=verify-ca&sslrootcert=${file('stranger.crt')}`), encrypted)).toEqual(
      refused,
    );
  });

  it('is refused if the certificate is for another name, unless the name is not verified', async () => {
    const swap = async (name: string): Promise<void> => {
      for (const end of ['crt', 'key']) writeFileSync(file(`server.${end}`), readFileSync(file(`${name}.${end}`)));
      // MySQL 8.0.15 has no statement that makes it read the files again.
      await server.restart();
    };
    for (const end of ['crt', 'key']) writeFileSync(file(`first.${end}`), readFileSync(file(`server.${end}`)));
    onTestFinished(() => swap('first'));
    await swap('elsewhere');
    const ca = `sslrootcert=${file('ca.crt')}`;
    expect(await ask(at('localhost', `?sslmode=verify-full&${ca}`), encrypted)).toEqual(refused);
    expect(await ask(at('localhost', `?sslmode=verify-ca&${ca}`), encrypted)).toBe('1');
  });

  it("sends the client's certificate", async () => {
    const ca = `sslmode=verify-full&sslrootcert=${file('ca.crt')}`;
    const own = `&sslcert=${file('client.crt')}&sslkey=${file('client.key')}`;
    expect(await ask(at('localhost', `?${ca}${own}`, 'known'), encrypted)).toBe('1');
    expect(await ask(at('localhost', `?${ca}`, 'known'), encrypted)).toEqual([
      'config_invalid',
      expect.stringContaining('28000') as string,
    ]);
  });

  it('says what is wrong with a mode or a file', () => {
    for (const parameters of ['?sslmode=require', '?ssl=true', `?sslrootcert=${file('no-such.crt')}`])
      expect(() => open(at('localhost', parameters))).toThrow('the address of the source');
  });
});
