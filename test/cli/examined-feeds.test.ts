/** What `doctor` and `check` say of change feeds, on a real server. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SYNC } from '../pipeline/shop.js';
import { filesOf } from '../pipeline/shop-files.js';
import { startSlotServer, type SlotServer } from '../source/slot-server.js';
import { openFedShop, PASSWORDS, type FedShop } from './fed-shop.js';
import { runInProcess } from './in-process.js';

let server: SlotServer;
beforeAll(async () => void (server = await startSlotServer()));
afterAll(() => server.stop());

const fedShop = (files?: Record<string, string>): Promise<FedShop> => openFedShop(server, files);

/** The lines of `doctor` about change feeds. */
async function examinedBy(shop: FedShop): Promise<readonly { health: string; what: string; remedy?: string }[]> {
  const { stdout, stderr, json } = await runInProcess(['doctor', SYNC, '--json'], shop.env);
  for (const secret of Object.values(PASSWORDS)) expect(stdout + stderr).not.toContain(secret);
  const { examined } = json<{ examined: { name: string; health: string; what: string; remedy?: string }[] }>();
  return examined.filter(({ name }) => name === 'changes').map(({ name: _, ...line }) => line);
}

const UNLIMITED = {
  health: 'warn',
  what: expect.stringContaining('max_slot_wal_keep_size is -1') as string,
  remedy: expect.stringContaining('limit it') as string,
};
const INSTALL = 'partner-sync changes install shop';

it('lets doctor say whether a feed can be read, which tables it lacks, and that the log is kept without limit', async () => {
  const shop = await fedShop({ 'lines.mapping.yaml': `${filesOf({})['lines.mapping.yaml']}changes: none\n` });
  expect(await examinedBy(shop)).toEqual([
    { health: 'FAIL', what: `${shop.slot}: there is no slot "${shop.slot}"`, remedy: INSTALL },
    UNLIMITED,
  ]);
  await shop.changes('install --apply');
  expect(await examinedBy(shop)).toEqual([
    { health: 'ok', what: expect.stringMatching(/can be read; the source keeps .*B for it/) as string },
    UNLIMITED,
  ]);
  shop.write('lines.mapping.yaml', filesOf({})['lines.mapping.yaml']!);
  await shop.source.query('ALTER TABLE shop.orders REPLICA IDENTITY FULL');
  expect(await examinedBy(shop)).toEqual([
    { health: 'FAIL', what: `${shop.slot} does not report shop.lines`, remedy: INSTALL },
    UNLIMITED,
    {
      health: 'FAIL',
      what: expect.stringContaining('shop.orders: its REPLICA IDENTITY is FULL') as string,
      remedy: 'ALTER TABLE "shop"."orders" REPLICA IDENTITY DEFAULT',
    },
  ]);
});

it('lets doctor say that a limit is exceeded, or above that of the server, and not that there is none', async () => {
  const shop = await fedShop();
  await shop.changes('install --apply');
  shop.write(
    'sync.yaml',
    filesOf({ changes: `{ slot: ${shop.slot}, publication: ${shop.slot}, maxWal: 1MiB }` })['sync.yaml']!,
  );
  const kept = /can be read; the source keeps .*B for it \(limit 1\.0 MiB\)/;
  expect(await examinedBy(shop)).toEqual([{ health: 'ok', what: expect.stringMatching(kept) as string }]);
  await shop.source.query(`SELECT pg_logical_emit_message(true, 'filler', repeat('x', 2097152))`);
  expect(await examinedBy(shop)).toEqual([
    { health: 'ok', what: expect.stringMatching(kept) as string },
    {
      health: 'warn',
      what: `${shop.slot}: the source keeps more than maxWal for it`,
      remedy: expect.stringContaining('let a run read it') as string,
    },
  ]);
  const status = await shop.changes('status');
  expect([status.code, status.stdout]).toEqual([1, expect.stringContaining('MORE THAN ITS LIMIT')]);
});

interface CheckDocument {
  readonly findings: readonly { kind: string; severity: string; file: string; path: string; message: string }[];
}

it('lets check name tables that a feed cannot report, and those that the publication lacks', async () => {
  const shop = await fedShop({ 'lines.mapping.yaml': `${filesOf({})['lines.mapping.yaml']}changes: none\n` });
  const check = async () => {
    const { code, json } = await runInProcess(['check', SYNC, '--json'], shop.env);
    const ofFeed = json<CheckDocument>().findings.filter(({ kind }) => kind.startsWith('changes_'));
    expect(code).toBe(ofFeed.length > 0 ? 1 : 0);
    return ofFeed;
  };
  expect(await check()).toEqual([]);
  await shop.changes('install --apply');
  shop.write('lines.mapping.yaml', filesOf({})['lines.mapping.yaml']!);
  await shop.source.query('ALTER TABLE shop.customers REPLICA IDENTITY FULL');
  await shop.source.query('ALTER TABLE shop.orders DROP CONSTRAINT orders_pkey CASCADE');
  expect(await check()).toMatchObject([
    {
      kind: 'changes_table',
      file: 'shop/customers.mapping.yaml',
      path: 'changes',
      message: expect.stringMatching(
        /cannot report shop\.customers: .*FULL.*: ALTER TABLE "shop"\."customers" REPLICA IDENTITY DEFAULT$/,
      ) as string,
    },
    {
      kind: 'changes_table',
      severity: 'error',
      file: 'shop/orders.mapping.yaml',
      path: 'key',
      message: expect.stringContaining('ADD PRIMARY KEY ("no")') as string,
    },
    {
      kind: 'changes_unpublished',
      file: 'shop/lines.mapping.yaml',
      path: 'changes',
      message: expect.stringContaining('does not report shop.lines') as string,
    },
  ]);
});

it('lets check say that a database has no feed, and that one slot is named with two publications', async () => {
  const shop = await fedShop({
    'lines.mapping.yaml': `${filesOf({})['lines.mapping.yaml']}changes: { slot: one, publication: two }\n`,
    'orders.mapping.yaml': `${filesOf({})['orders.mapping.yaml']}changes: { slot: one, publication: one }\n`,
  });
  const { code, stdout } = await runInProcess(['check', SYNC], shop.env);
  expect(code).toBe(1);
  expect(stdout).toContain('the mappings lines and orders name the slot one with different publications');
  expect((await shop.changes('install')).code).toBe(2);
});
