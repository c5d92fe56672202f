/** Accounts with the privileges that docs/deploy.md gives them, and no more: what works with them, and what they cannot do. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runInProcess } from '../cli/in-process.js';
import type { Database } from '../databases.js';
import { readPage } from '../docs/pages.js';
import { fill, openShop, SYNC, type Shop } from '../pipeline/shop.js';
import { build, startWorkerProcess } from '../pipeline/worker-process.js';

beforeAll(build);

/** The statements of the page that name a role, with what exists here in the place of the examples. */
async function accountsOfThePage(database: Database, roles: readonly string[], also: Record<string, string> = {}) {
  const suffix = randomUUID().slice(0, 8);
  const own = Object.fromEntries(roles.map((role) => [role, `${role}_${suffix}`]));
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  // Roles are the whole server's, which other tests share, and cannot be dropped before their privileges are.
  onTestFinished(async () => {
    for (const role of Object.values(own)) await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    await admin.end();
  });
  const statements = [...readPage('docs/deploy.md').text.matchAll(/```sql\n([^]*?)```/g)]
    .flatMap(([, block]) => block!.replaceAll(/--.*/g, '').split(';'))
    .filter((statement) => roles.some((role) => statement.includes(role)));
  expect(statements.length).toBeGreaterThan(4);
  const name = new URL(database.url).pathname.slice(1);
  for (const statement of statements)
    await admin.query(
      Object.entries({ ...own, ...also }).reduce(
        (text, [example, real]) => text.replaceAll(new RegExp(`\\b${example}\\b`, 'g'), real),
        statement.replace(/ON DATABASE \w+/, `ON DATABASE ${name}`),
      ),
    );
  return (role: string): string =>
    Object.assign(new URL(database.url), { username: own[role], password: 'change-me' }).href;
}

/** The SQLSTATE with which each statement is refused; null if one is not. */
async function refusals(url: string, statements: readonly string[]): Promise<(string | null)[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const codes: (string | null)[] = [];
  for (const statement of statements)
    codes.push(
      await client.query(statement).then(
        () => null,
        (error: { code: string }) => error.code,
      ),
    );
  await client.end();
  return codes;
}

const PRIVILEGE = '42501';
const READ_ONLY = '25006';

async function filledShop(): Promise<Shop> {
  const shop = await openShop();
  onTestFinished(() => shop.close());
  await fill(shop, 5);
  return shop;
}

describe('the account of the source', () => {
  it('reads the tables that it needs, and neither writes nor reads others', async () => {
    const shop = await filledShop();
    await shop.source.query('CREATE TABLE shop.secrets (id int)');
    const urlOf = await accountsOfThePage(shop.source, ['shop_reader'], {
      'shop\\.invoices': 'shop.orders',
      'shop\\.invoice_lines': 'shop.lines',
    });
    const url = urlOf('shop_reader');

    const { code, stderr } = await runInProcess(['check', SYNC], { ...shop.env, SOURCE_URL: url });
    expect(code, stderr).toBe(0);
    expect(
      await refusals(url, [
        `UPDATE shop.customers SET name = 'x'`,
        'CREATE TABLE shop.mine (id int)',
        'SELECT * FROM shop.secrets',
        'SET default_transaction_read_only = off',
        `UPDATE shop.customers SET name = 'x'`,
        'DELETE FROM shop.orders',
        'CREATE TABLE shop.mine (id int)',
      ]),
    ).toEqual([READ_ONLY, READ_ONLY, PRIVILEGE, null, PRIVILEGE, PRIVILEGE, PRIVILEGE]);
  });
});

describe('the accounts of the ledger', () => {
  it('let a worker and a run work that may not change tables, and entries of the audit stay as they are', async () => {
    const shop = await filledShop();
    const urlOf = await accountsOfThePage(shop.state, ['partner_sync_worker', 'partner_sync_viewer']);
    const url = urlOf('partner_sync_worker');
    const worker = await startWorkerProcess(shop, { PARTNER_SYNC_STATE_URL: url });
    onTestFinished(() => void worker.child.kill('SIGKILL'));

    const { code, stdout } = await runInProcess(['run', SYNC, '--json'], { ...shop.env, PARTNER_SYNC_STATE_URL: url });

    expect(code, stdout + worker.output()).toBe(0);
    expect(
      await refusals(url, [
        'CREATE TABLE partner_sync.mine (id int)',
        'ALTER TABLE partner_sync.runs ADD mine int',
        'DROP TABLE partner_sync.runs',
        'TRUNCATE partner_sync.audit',
        'ALTER TABLE partner_sync.audit DISABLE TRIGGER ALL',
        'CREATE SCHEMA mine',
        'SELECT FROM sandbox.resources',
      ]),
    ).toEqual(Array(7).fill(PRIVILEGE));
    for (const statement of ['UPDATE partner_sync.audit SET who = NULL', 'DELETE FROM partner_sync.audit'])
      expect(await refusals(url, [statement]), statement).not.toEqual([null]);
  });

  it('let somebody look who may only look', async () => {
    const shop = await filledShop();
    await shop.source.query(`UPDATE shop.customers SET email = 'wrong' WHERE id = 1`);
    await shop.work();
    await shop.run();
    const urlOf = await accountsOfThePage(shop.state, ['partner_sync_worker', 'partner_sync_viewer']);
    const url = urlOf('partner_sync_viewer');

    for (const args of [
      ['status'],
      ['status', SYNC],
      ['report', SYNC, 'latest'],
      ['audit', SYNC],
      ['dead-letters', 'list', SYNC],
      ['removals', SYNC],
    ]) {
      const { code, stderr } = await runInProcess(args, { ...shop.env, PARTNER_SYNC_STATE_URL: url });
      expect(code, `${args.join(' ')}: ${stderr}`).toBe(0);
    }
    const drop = ['dead-letters', 'drop', SYNC, '--code', 'record_invalid', '--yes'];
    const { code, stderr } = await runInProcess(drop, { ...shop.env, PARTNER_SYNC_STATE_URL: url });
    expect(stderr).toContain(`SQLSTATE ${PRIVILEGE}`);
    expect(code).toBe(1);
    expect(await refusals(url, ['DELETE FROM partner_sync.dead_letters', 'CREATE SCHEMA mine'])).toEqual([
      PRIVILEGE,
      PRIVILEGE,
    ]);
  });
});
