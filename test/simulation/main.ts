/** Tells the story of each seed that a line of its input names, and writes its result as a line of JSON. Argument: `--trace` for all traces. */
import pg from 'pg';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { MIGRATIONS } from '../../src/ledger/migrations/all.js';
import knexLibrary from 'knex';
import { installGlobals } from './globals.js';
import { Kernel } from './kernel.js';
import { LedgerDatabase } from './ledger-database.js';
import { planOf } from './plan.js';
import { randomOf } from './random.js';
import { filesOfShop } from './shop.js';
import { World, type SeedResult } from './world.js';

installGlobals();

const isTraced = process.argv.includes('--trace');
const database = await LedgerDatabase.open();
/** An option of the driver that its types do not know. */
const STREAM: object = { stream: () => database.socket() };
const RealClient = pg.Client;
pg.Client = class extends RealClient {
  constructor(config: pg.ClientConfig) {
    super({ ...config, ...STREAM });
  }
};

const folder = mkdtempSync(join(tmpdir(), 'partner-sync-simulation-'));
await createTables();
const reset = await resetStatement();
// Modules that are loaded on first use are loaded by a seed that does not count, so that they make no difference to others.
await simulate(0);
for await (const seed of createInterface({ input: process.stdin })) {
  const began = process.cpuUsage();
  const result = await simulate(Number(seed));
  const { user, system } = process.cpuUsage(began);
  const line = {
    ...result,
    cpuMs: Math.round((user + system) / 1000),
    trace: isTraced || result.violations.length > 0 ? result.trace : [],
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
rmSync(folder, { recursive: true, force: true });
process.exit(0);

async function simulate(seed: number): Promise<SeedResult> {
  const plan = planOf(seed);
  await database.reset(reset);
  const mappings = join(folder, String(seed));
  mkdirSync(join(mappings, 'shop'), { recursive: true });
  for (const [name, text] of Object.entries(filesOfShop(plan.settings)))
    writeFileSync(join(mappings, 'shop', name), text);
  const result = await new World(plan, database, mappings).run();
  rmSync(mappings, { recursive: true });
  return result;
}

/** The migrations as the product has them, without the locks that would need a second session. */
async function createTables(): Promise<void> {
  const kernel = new Kernel(0);
  database.begin({
    kernel,
    random: randomOf(0, 'tables'),
    faults: { lostAnswer: 0, lostStatement: 0 },
    idleLimit: 1e9,
    executed: () => undefined,
  });
  let isDone = false;
  const { setCurrent } = await import('./simulation.js');
  setCurrent({ kernel, random: randomOf(0, 'tables') } as never);
  const knex = knexLibrary({
    client: 'pg',
    connection: 'postgres://ledger@127.0.0.1:5432/ledger',
    searchPath: ['partner_sync'],
  });
  const work = (async () => {
    await knex.raw('CREATE SCHEMA partner_sync');
    for (const { up } of MIGRATIONS) await up(knex);
    await knex.destroy();
  })().finally(() => (isDone = true));
  await kernel.run(() => isDone);
  await work;
  setCurrent(null);
}

/** What empties all tables and begins all sequences anew. */
async function resetStatement(): Promise<string> {
  const tables = await database.rows<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = 'partner_sync'`,
  );
  const sequences = await database.rows<{ name: string }>(
    `SELECT format('%I.%I', schemaname, sequencename) AS name FROM pg_sequences WHERE schemaname = 'partner_sync'`,
  );
  return [
    `SET session_replication_role = replica`,
    `TRUNCATE ${tables.map(({ name }) => name).join(', ')} RESTART IDENTITY`,
    `SET session_replication_role = DEFAULT`,
    ...sequences.map(({ name }) => `ALTER SEQUENCE ${name} RESTART`),
  ].join(';\n');
}
