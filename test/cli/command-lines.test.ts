/** Bad command lines, each with the first line of its message and its exit code; none ends in a stack trace. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { openLedger } from '../../src/ledger/ledger.js';
import { FILES } from '../mapping/sync-on-disk.js';
import { createDatabase, type Database } from '../pipeline/shop.js';
import { runInProcess } from './in-process.js';

interface BadCommandLine {
  /** Parted at blanks; what stands in double quotes is one. `<folder>` is the mappings folder. */
  args: string;
  code: number;
  says: string;
}

const corpus = parse(readFileSync(new URL('corpus/command-lines.yaml', import.meta.url), 'utf8')) as BadCommandLine[];
const PLANS = {
  'not-json.json': 'hello',
  'no-plan.json': '{"version":1}',
  'other.json': '{"version":1,"sync":"other","mode":"full","mappingVersion":"x","mappings":[]}',
};

let folder: string;
let state: Database;
let env: Record<string, string>;

beforeAll(async () => {
  state = await createDatabase();
  await (await openLedger(state.url)).close();
  folder = mkdtempSync(join(tmpdir(), 'command-lines-'));
  const broken = { ...FILES, 'sync.yaml': 'source: { connection: 5 }\n' };
  for (const [sync, files] of Object.entries({ shop: FILES, broken })) {
    mkdirSync(join(folder, sync));
    for (const [name, text] of Object.entries(files))
      writeFileSync(join(folder, sync, name), text.replace('  client: pg\n', ''));
  }
  for (const [name, text] of Object.entries(PLANS)) writeFileSync(join(folder, name), text);
  env = {
    PARTNER_SYNC_MAPPINGS: folder,
    PARTNER_SYNC_STATE_URL: state.url,
    PLATFORM_BASE_URL: 'http://127.0.0.1:1',
    PLATFORM_TOKEN: 'a-token-for-nobody',
    PLATFORM_TENANT: 'tenant-a',
    SANDBOX_JWT_SECRET: 'a secret for tests, long enough for HS256',
    SHOP_URL: 'postgres://reader:hunter2@127.0.0.1:1/shop',
    // Whatever is wrong is said before anybody asks for a server of Temporal.
    TEMPORAL_ADDRESS: '127.0.0.1:1',
  };
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await state.drop();
});

it.each(corpus)('partner-sync $args', async ({ args, code, says }) => {
  const given = [...args.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare!);
  const end = await runInProcess(
    given.map((arg) => arg.replace('<folder>', folder)),
    env,
  );
  // What a command begins is said before it is known to be wrong.
  const said = (end.stderr + end.stdout).replace(/^.* \.\.\.\n/, '').replaceAll(folder, '<folder>');
  expect({ code: end.code, says: said.slice(0, says.length) }).toEqual({ code, says });
  expect(code).not.toBe(0);
  expect(said).not.toMatch(/\n {4}at |hunter2|a-token-for-nobody/);
});
