/** Sources that cannot be used, on real servers: the message and the exit code, without a stack trace or a password. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FILES } from '../mapping/sync-on-disk.js';
import { here, mariadb, mysql, postgres, type TestDatabase } from '../source/dialect-databases.js';
import { isHere } from '../here.js';
import { runInProcess } from './in-process.js';

/** Title, the address made of a good one, the code of the error, and what is said. */
type BadAddress = readonly [title: string, change: (url: URL) => void, code: string, says: RegExp];

const EVERY_SERVER: readonly BadAddress[] = [
  [
    'a port on which nothing listens',
    (url) => (url.port = '1'),
    'source_unreachable',
    /nothing is listening on this host and port/,
  ],
  [
    'a host that does not exist',
    (url) => (url.hostname = 'no-such-host.invalid'),
    'source_unreachable',
    /the host name does not exist|could not be resolved/,
  ],
  [
    'a database that does not exist',
    (url) => (url.pathname = '/nowhere'),
    'config_invalid',
    /the database does not exist/,
  ],
  [
    'a TLS file that does not exist',
    (url) => (url.search = '?sslmode=verify-full&sslrootcert=/no/such/ca.pem'),
    'config_invalid',
    /cannot be read \(ENOENT\)|a file of the URL: ENOENT/,
  ],
  ['TLS although the server has none', (url) => (url.search = '?sslmode=no-verify'), 'config_invalid', /TLS/],
];
const LIKE_MYSQL = {
  cases: [
    ...EVERY_SERVER,
    ['a wrong password', (url) => (url.password = 'hunter2'), 'config_invalid', /rejected the user name/],
    [
      'an unknown sslmode',
      (url) => (url.search = '?sslmode=perhaps'),
      'config_invalid',
      /unknown sslmode; known: disable/,
    ],
    ['an unknown parameter', (url) => (url.search = '?tls=yes'), 'config_invalid', /does not know the parameter tls/],
  ] satisfies BadAddress[],
  account: (name: string) =>
    `CREATE USER ${name} IDENTIFIED BY 'stranger'; GRANT SELECT (id) ON people_view TO ${name}`,
  dropped: (name: string) => `DROP USER ${name}`,
  writes: 'DELETE FROM closed RETURNING id, name',
};
const SERVERS = [
  {
    dialect: postgres,
    cases: [
      ...EVERY_SERVER,
      [
        'a wrong password',
        (url) => ([url.username, url.password] = ['nobody', 'hunter2']),
        'config_invalid',
        /rejected the user name/,
      ],
      [
        'an unknown sslmode',
        (url) => (url.search = '?sslmode=perhaps'),
        'config_invalid',
        /unknown sslmode; known: disable/,
      ],
    ] satisfies BadAddress[],
    account: (name: string) => `CREATE ROLE ${name} LOGIN PASSWORD 'stranger'`,
    dropped: (name: string) => `DROP ROLE ${name}`,
    writes: 'DELETE FROM closed RETURNING id, name',
  },
  { dialect: mariadb, ...LIKE_MYSQL },
  { dialect: mysql, ...LIKE_MYSQL },
];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bad-sources-'));
  mkdirSync(join(folder, 'shop'));
  for (const [name, text] of Object.entries(FILES))
    writeFileSync(join(folder, 'shop', name), text.replace('  client: pg\n', ''));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function call(address: string, ...args: string[]): Promise<{ code: number; said: string }> {
  const { code, stdout, stderr } = await runInProcess(args, { PARTNER_SYNC_MAPPINGS: folder, SHOP_URL: address });
  const said = stderr + stdout;
  expect(said).not.toMatch(/\n {4}at |hunter2/);
  return { code, said };
}

/** `check` of the sync with another source in its mapping. */
async function checked(address: string, source: string) {
  const file = join(folder, 'shop', 'people.mapping.yaml');
  writeFileSync(file, FILES['people.mapping.yaml']!.replace('{ table: people }', source));
  const end = await call(address, 'check', 'shop');
  writeFileSync(file, FILES['people.mapping.yaml']!);
  return end;
}

describe.each(here(SERVERS))('$dialect.name', ({ dialect, cases, account, dropped, writes }) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await dialect.create();
    await database.run(`CREATE TABLE closed (id int PRIMARY KEY, name varchar(20));
      CREATE VIEW people_view AS SELECT id, name FROM closed;`);
  });
  afterAll(() => database.drop());

  it.each<BadAddress>(cases)('%s', async (_title, change, code, says) => {
    // The address of a scheme that URL does not know would not let its host be changed.
    const { protocol } = new URL(database.url);
    const url = new URL(database.url.replace(protocol, 'http:'));
    change(url);
    const address = url.href.replace('http:', protocol);
    const init = await call(address, 'init', 'new', '--source', 'SHOP_URL');
    expect(init.said).toMatch(new RegExp(`^error ${code}: `));
    expect(init.said).toMatch(says);
    expect(init.code).toBe(code === 'config_invalid' ? 2 : 1);
    const check = await call(address, 'check', 'shop');
    expect(check.said).toMatch(says);
    expect(check.code).not.toBe(0);
  });

  if (dialect === postgres)
    it('a column that is gone, with the hint of the database', async () => {
      const { said } = await checked(database.url, '{ query: "SELECT id, nmae FROM closed" }');
      expect(said).toContain('Perhaps you meant to reference the column "closed.name"');
    });

  it('an address that does not answer, once and at the address', async () => {
    const gone = dialect === postgres ? 'postgres://reader@127.0.0.1:1/shop' : 'mariadb://reader@127.0.0.1:1/shop';
    const copy = join(folder, 'shop', 'others.mapping.yaml');
    writeFileSync(copy, FILES['people.mapping.yaml']!);
    const { said, code } = await call(gone, 'check', 'shop');
    rmSync(copy);
    expect(said.match(/ error source_unreachable /g)).toHaveLength(1);
    expect(said).toMatch(/^shop\/sync\.yaml:\d+:\d+ error source_unreachable source\.connection: /m);
    expect(code).toBe(1);
  });

  it.each([
    [
      'a table that is gone',
      '{ table: people }',
      /error source_relation_missing source: describing people failed \(.*: the table does not exist; the database says: .*people/,
    ],
    [
      'a column that is gone',
      '{ query: "SELECT id, nmae FROM closed" }',
      /:2:18 error source_relation_missing source\.query: .*the column does not exist; the database says: .*nmae/,
    ],
    ['a query with a slip', '{ query: SELEC id FROM closed }', /error config_invalid .*the SQL has a syntax error/],
    ['a query that writes', `{ query: "${writes}" }`, /error config_invalid /],
  ])('%s', async (_title, source, says) => {
    const { code, said } = await checked(database.url, source);
    expect(said).toMatch(says);
    expect(code).toBe(1);
  });

  it('a view without a key to draft a mapping from', async () => {
    const { code, said } = await call(database.url, 'init', 'new', '--source', 'SHOP_URL', '--table', 'people_view');
    expect(said).toMatch(/none of the tables \(1\) has a primary key; nothing was written/);
    expect(code).toBe(2);
  });

  it('an account that cannot read any table', async () => {
    const name = `stranger_${new URL(database.url).pathname.slice(1)}`;
    await database.run(account(name));
    const { protocol } = new URL(database.url);
    const url = new URL(database.url.replace(protocol, 'http:'));
    [url.username, url.password] = [name, 'stranger'];
    const address = url.href.replace('http:', protocol);
    const init = await call(address, 'init', 'new', '--source', 'SHOP_URL');
    const check = await checked(address, '{ table: closed }');
    await database.run(dropped(name));
    expect(init.said).toMatch(/the account can read no table of this database/);
    expect(init.code).toBe(2);
    expect(check.said).toMatch(/error (not_readable|source_relation_missing|config_invalid) /);
    expect(check.code).toBe(1);
  });
});

describe.skipIf(!isHere('SQLite'))('SQLite', () => {
  it.each([
    [
      'a file that does not exist',
      (files: string) => `sqlite:${files}/no-such.db`,
      /SQLITE_CANTOPEN: the file does not exist|no such file/,
    ],
    [
      'a file that is not a database',
      (files: string) => `sqlite:${files}/text.db`,
      /SQLITE_NOTADB: the file is not an SQLite database/,
    ],
    ['a folder', (files: string) => `sqlite:${files}`, /SQLITE_CANTOPEN|SQLITE_IOERR/],
    ['no file', () => 'sqlite:', /must be a file such as|must be a URL such as/],
    ['a database in memory', () => 'sqlite::memory:', /must be a file such as/],
    ['an empty file', (files: string) => `sqlite:${files}/empty.db`, /can read no table of this database/],
  ])('%s', async (_title, address, says) => {
    const files = mkdtempSync(join(tmpdir(), 'bad-sqlite-'));
    writeFileSync(join(files, 'text.db'), 'no database, but long enough to be looked at as if it were one'.repeat(20));
    writeFileSync(join(files, 'empty.db'), '');
    const { code, said } = await call(address(files), 'init', 'new', '--source', 'SHOP_URL');
    rmSync(files, { recursive: true, force: true });
    expect(said).toMatch(says);
    expect(code).not.toBe(0);
  });
});
