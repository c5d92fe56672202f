/** Passwords in addresses, wherever they may be: they are never printed, and a wrong address is named. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { FILES } from '../mapping/sync-on-disk.js';
import { runInProcess } from './in-process.js';

const SECRET = 'hunter2';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'passwords-'));
  for (const sync of ['shop', 'literal']) {
    mkdirSync(join(folder, sync));
    for (const [name, text] of Object.entries(FILES))
      writeFileSync(join(folder, sync, name), text.replace('  client: pg\n', ''));
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the command as it is, and with --json; what it says never holds the password. */
async function said(args: readonly string[], env: Readonly<Record<string, string>>) {
  const good = {
    PARTNER_SYNC_MAPPINGS: folder,
    PARTNER_SYNC_STATE_URL: 'postgres://u@127.0.0.1:1/x',
    PLATFORM_BASE_URL: 'http://127.0.0.1:1',
    PLATFORM_TOKEN: 'a.b.c',
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    SHOP_URL: 'postgres://u@127.0.0.1:1/x',
  };
  const plain = await runInProcess(args, { ...good, ...env });
  const json = await runInProcess([...args, '--json'], { ...good, ...env });
  for (const { stdout, stderr } of [plain, json]) {
    expect(stdout + stderr).not.toContain(SECRET);
    expect(stdout + stderr).not.toMatch(/\n {4}at /);
  }
  return { code: plain.code, text: plain.stdout + plain.stderr };
}

/** Addresses that hold a password where none, or hardly any, connection comes of them. */
const MALFORMED: readonly string[] = [
  `u:${SECRET}@127.0.0.1/x`,
  `postgres:/u:${SECRET}@127.0.0.1:1/x`,
  `postgres://u:a#${SECRET}@127.0.0.1:1/x`,
  `postgres://u:a/${SECRET}@127.0.0.1:1/x`,
  `postgres://u:${SECRET}@127.0.0.1:99999/x`,
  `postgres://u:${SECRET}@127.0.0.1:port/x`,
  `jdbc:postgresql://127.0.0.1:1/x?user=u&password=${SECRET}`,
  `Server=127.0.0.1;User Id=u;Password=${SECRET};`,
];
const UNREACHABLE: readonly string[] = [
  `postgres://u:${SECRET}@127.0.0.1:1/x`,
  `postgres://u:a ${SECRET}@127.0.0.1:1/x`,
  `postgres://u:${SECRET}%zz@127.0.0.1:1/x`,
  `postgres://127.0.0.1:1/x?user=u&password=${SECRET}`,
];

const LEDGER_COMMANDS = [['status'], ['schema', 'push', 'shop']];

describe('the address of the ledger', () => {
  it.each([...MALFORMED, `mysql://u:${SECRET}@127.0.0.1:3306/x`, `sqlite:${SECRET}.db`])(
    'makes a command exit with 2 and name the variable if it is of a wrong kind: %s',
    async (address) => {
      for (const args of LEDGER_COMMANDS) {
        const { code, text } = await said(args, { PARTNER_SYNC_STATE_URL: address });
        expect(text, args.join(' ')).toContain('PARTNER_SYNC_STATE_URL ');
        expect(code, args.join(' ')).toBe(2);
      }
    },
  );

  it.each(UNREACHABLE)('is not printed if no server answers there: %s', async (address) => {
    for (const args of LEDGER_COMMANDS) {
      const { code } = await said(args, { PARTNER_SYNC_STATE_URL: address });
      expect(code, args.join(' ')).toBeGreaterThan(0);
    }
  });

  it('is not printed if the server refuses it', async () => {
    const url = new URL(inject('postgresUrl'));
    [url.username, url.password] = ['nobody', SECRET];
    await said(['status'], { PARTNER_SYNC_STATE_URL: url.href });
  });

  it('is reported by its variable if it comes from a file, even if the file name is an address by mistake', async () => {
    const file = join(folder, 'state-url');
    writeFileSync(file, `mysql://u:${SECRET}@127.0.0.1/x`);
    const none = { PARTNER_SYNC_STATE_URL: '' };
    const wrong = await said(['status'], { ...none, PARTNER_SYNC_STATE_URL_FILE: file });
    expect(wrong.text).toContain('the content of the file that PARTNER_SYNC_STATE_URL_FILE names must be the address');
    expect(wrong.code).toBe(2);
    const mixed = await said(['status'], {
      ...none,
      PARTNER_SYNC_STATE_URL_FILE: `postgres://u:${SECRET}@127.0.0.1/x`,
    });
    expect(mixed.code).toBe(2);
  });
});

describe('the address of a source', () => {
  const others = (address: string): string[] =>
    ['mysql', 'sqlserver'].map((scheme) => address.replace('postgres:', `${scheme}:`));
  const ADDRESSES = [
    ...MALFORMED.flatMap((a) => [a, ...(a.startsWith('postgres://') ? others(a) : [])]),
    ...UNREACHABLE.slice(0, 2),
  ];

  it.each(ADDRESSES)('is not printed, whether it comes from the file or the command line: %s', async (address) => {
    const literal = FILES['sync.yaml']!.replace('  client: pg\n', '').replace(
      /connection: .*/,
      `connection: ${JSON.stringify(address)}`,
    );
    expect(literal).toContain(SECRET);
    writeFileSync(join(folder, 'literal', 'sync.yaml'), literal);
    for (const [args, env] of [
      [['check', 'literal'], {}],
      [['init', 'new', '--source', address], {}],
    ] as const) {
      const { code } = await said(args, env);
      expect(code, args.join(' ').replace(SECRET, '')).toBeGreaterThan(0);
    }
  });
});

describe('other addresses', () => {
  it.each([
    [
      'PLATFORM_BASE_URL',
      `https://127.0.0.1:1/?token=${SECRET}`,
      ['platform', 'usage', 'list'],
      'must end with its host',
    ],
    [
      'PLATFORM_BASE_URL',
      `https://u:${SECRET}@127.0.0.1:1`,
      ['schema', 'diff', 'shop'],
      'must not contain credentials',
    ],
    [
      'PLATFORM_BASE_URL',
      `https://u:${SECRET}@127.0.0.1:1`,
      ['platform', 'usage', 'list'],
      'must not contain credentials',
    ],
    ['TEMPORAL_ADDRESS', `http://u:${SECRET}@127.0.0.1:1`, ['run', 'shop'], 'must be a host and a port'],
    ['TEMPORAL_ADDRESS', `u:${SECRET}@127.0.0.1:1`, ['schedules', 'list', 'shop'], 'must be a host and a port'],
    [
      'SANDBOX_STATE_URL',
      `mysql://u:${SECRET}@127.0.0.1:1/x`,
      ['sandbox', 'load'],
      'must be the address of a PostgreSQL',
    ],
  ] as const)('%s=%s', async (name, value, args, words) => {
    const { code, text } = await said(args, { [name]: value });
    expect(text).toContain(`${name} ${words}`);
    expect(code).toBe(2);
  });

  const address = `postgres://u:${SECRET}@127.0.0.1:1/x`;
  it.each([
    ['status', address],
    ['check', address],
    ['run', address],
    ['init', address, '--source', 'SHOP_URL'],
    ['init', 'new', address],
    ['init', 'new', `--sorce=${address}`],
    ['status', `--state-url=${address}`],
    ['explain', address, 'people', '1'],
    ['dead-letters', 'list', 'shop', '--since', address],
    ['sandbox', '--port', address],
    ['sandbox', 'load', address],
    ['sandbox', 'token', '--tenant', address],
    ['platform', 'resources', 'upload', 'x', '--tenant', 'north', '--data', `@${address}`],
    [address],
  ])('is not printed if it was typed in a wrong place: %s %s %s %s', async (...args: string[]) => {
    const { code } = await said(
      args.filter((a) => a !== undefined),
      {},
    );
    expect(code).toBeGreaterThan(0);
  });
});
