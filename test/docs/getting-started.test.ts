/** The commands of docs/getting-started.md, run one after the other on another shop's database. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { partnerSync, type CommandEnd } from '../cli/command-line.js';
import { createDatabase, openShop, type Database, type Shop } from '../pipeline/shop.js';
import { build, startWorkerProcess, type WorkerProcess } from '../pipeline/worker-process.js';
import { readPage, ROOT } from './pages.js';

const OWN_SHOP = `
  CREATE TABLE customers (id serial PRIMARY KEY, name text NOT NULL, email text, phone text, joined timestamp NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now());
  CREATE TABLE orders (order_no text PRIMARY KEY, customer_id int NOT NULL REFERENCES customers, total numeric(10,2) NOT NULL,
    paid boolean, placed_at timestamptz NOT NULL, updated_at timestamptz NOT NULL DEFAULT now());
  INSERT INTO customers (name, email, phone) SELECT 'Customer ' || i, ' C' || i || '@Example.org', '020 7946 0' || i FROM generate_series(100, 149) i;
  INSERT INTO orders SELECT 'A-' || i, 1 + i % 50, i * 1.25, i % 2 = 0, now() - i * interval '1 hour' FROM generate_series(1, 200) i;`;

/**
 * What the page says to type after `npx partner-sync`, in its order; what is in prose is not run. The test starts servers of
 * its own; scripts/test-package.mjs tries `new` in an empty folder.
 */
const commands = [...readPage('docs/getting-started.md').text.matchAll(/^npx partner-sync (.+)$/gm)]
  .map((m) => m[1]!)
  .filter((command) => !['new shop', 'dev --install'].includes(command));

let own: Database;
let stack: Shop;
let worker: WorkerProcess;
let env: Record<string, string>;
let mappings: string;

beforeAll(async () => {
  await build();
  own = await createDatabase();
  await own.query(OWN_SHOP);
  stack = await openShop({ pushed: false });
  mappings = mkdtempSync(join(tmpdir(), 'getting-started-'));
  // As in a clone: the demo's sync is there, or no worker would start.
  cpSync(join(ROOT, 'mappings', 'online-retail'), join(mappings, 'online-retail'), { recursive: true });
  env = { ...stack.env, SHOP_URL: own.url, PARTNER_SYNC_MAPPINGS: mappings };
  worker = await startWorkerProcess(stack, env);
});
afterAll(async () => {
  worker.child.kill('SIGTERM');
  await worker.ended;
  await stack.close();
  await own.drop();
  rmSync(mappings, { recursive: true, force: true });
});

it('lead from the address of a database to a verified sync', async () => {
  expect(commands.map((c) => c.replace(/ shop.*/, ''))).toEqual([
    'init',
    'check',
    'preview',
    'doctor',
    'schema diff',
    'schema push',
    'run',
    'run',
    'reconcile',
  ]);
  const ends: Record<string, CommandEnd> = {};
  for (const command of commands) {
    // The tests' sandbox has a tenant of another name.
    const args = command.replace('demo-shop', 'north').split(' ');
    ends[args[0] === 'schema' ? args[1]! : args[0]!] = await partnerSync(args, env);
  }
  expect(Object.fromEntries(Object.entries(ends).map(([name, { code }]) => [name, code]))).toEqual({
    init: 0,
    check: 0,
    preview: 0,
    doctor: 0,
    diff: 1, // they are new
    push: 0,
    run: 0,
    reconcile: 0,
  });
  expect(ends['check']!.stdout).toContain('0 errors, 0 warnings');
  expect(ends['preview']!.stdout).toContain('+ new          200');
  // The demo's sync has a customer already.
  expect(ends['doctor']!.stdout).toContain('not pushed yet: shop_customer, order');
  // The sample sent ten orders, and eleven customers: ten of their own and one more that an order refers to.
  expect(ends['run']!.stdout).toMatch(/total +250 +229 +21 +0 +0/);
  expect(ends['reconcile']!.stdout).toContain('0 differences: source and platform agree');
});
