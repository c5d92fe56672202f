/** The commands against a real shop: exit codes, a single JSON document, no repeated messages, no secrets. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RunReport } from '../../src/domain/run/run.js';
import { eventually, fill, openShop, SYNC, type Shop } from '../pipeline/shop.js';
import { createNamespace } from '../temporal-namespace.js';
import { build, startWorkerProcess, type WorkerProcess } from '../pipeline/worker-process.js';
import { partnerSync, type CommandEnd } from './command-line.js';
import { runInProcess } from './in-process.js';

let shop: Shop;
let worker: WorkerProcess;
const said: string[] = [];

const hear = (end: CommandEnd): CommandEnd => {
  said.push(end.stdout, end.stderr);
  return end;
};
const call = async (...args: string[]): Promise<CommandEnd> => hear(await runInProcess(args, shop.env));
/** The same as a process of its own. */
const callProcess = async (...args: string[]): Promise<CommandEnd> => hear(await partnerSync(args, shop.env));

beforeAll(async () => {
  await build();
  const env = { TEMPORAL_NAMESPACE: await createNamespace() };
  shop = await openShop({ pushed: false, upload: { waitForPending: '1s' }, wait: '5m', env });
  await fill(shop, 30);
  worker = await startWorkerProcess(shop);
});
afterAll(async () => {
  worker.child.kill('SIGTERM');
  await worker.ended;
  await shop.close();
});

describe('the commands in the order of a first day', () => {
  it('checks the files against the live source', async () => {
    const people = await call('check', SYNC);
    expect(people.stdout).toContain('0 errors, 0 warnings. Nothing was sent.');
    expect(people.code).toBe(0);
    expect((await call('check', SYNC, '--json')).json()).toMatchObject({
      version: 1,
      sync: SYNC,
      errors: 0,
      findings: [],
    });
  });

  it('reports all findings at once, with their places', async () => {
    const file = 'customers.mapping.yaml';
    const good = readFileSync(join(shop.folder, SYNC, file), 'utf8');
    shop.write(file, good.replace('name: name', 'name: nam').replace('email: email', 'email: emial'));
    const { code, json } = await call('check', SYNC, '--json');
    shop.write(file, good);

    expect(code).toBe(1);
    const { findings } = json<{ findings: { kind: string; path: string; line: number; message: string }[] }>();
    expect(findings.map((f) => [f.kind, f.path])).toEqual([
      ['column_missing', 'fields.name.column'],
      ['column_missing', 'fields.email.column'],
      ['cursor_not_indexed', 'cursor'],
    ]);
    expect(findings.every((f) => f.line > 0)).toBe(true);
    expect(findings[0]!.message).toContain('Did you mean "name"?');
  });

  it('fails a run before the schemas are pushed, and says how to push them', async () => {
    const { code, stderr } = await callProcess('run', SYNC);
    expect(code).toBe(1);
    expect(stderr).toContain('schema_not_pushed');
    expect(stderr).toContain('partner-sync schema push shop');
  });

  it('pushes schema definitions once', async () => {
    const actions = async () =>
      (await call('schema', 'push', SYNC, '--json')).json<{ schemas: { schema: string; action: string }[] }>().schemas;
    expect((await actions()).map((s) => [s.schema, s.action])).toEqual([
      ['customer', 'created'],
      ['order', 'created'],
      ['line', 'created'],
    ]);
    expect((await actions()).map((s) => s.action)).toEqual(['unchanged', 'unchanged', 'unchanged']);
  });

  it('runs, and prints one report that adds up', async () => {
    const { code, json, stderr } = await callProcess('run', SYNC, '--json');
    expect(stderr).toContain('started workflow sync-shop-');
    expect(code).toBe(0);
    expect(json<RunReport>()).toMatchObject({ version: 1, outcome: 'complete', total: { read: 90, accepted: 90 } });
  });

  it('proves that source and platform agree', async () => {
    const { code, stdout } = await call('reconcile', SYNC, '--read-back', 'all');
    expect(stdout).toContain('0 differences: source and platform agree');
    expect(code).toBe(0);
    expect((await call('reconcile', SYNC, '--json')).json()).toMatchObject({ sync: SYNC, agree: true });
  });

  it('proves nothing for a mapping that does not exist', async () => {
    const { code, stderr } = await call('reconcile', SYNC, '--mapping', 'custmers');
    expect(code).toBe(2);
    expect(stderr).toContain('custmers');
  });

  it.each([
    ['sync', ['no-such-sync']],
    ['mapping', [SYNC, '--mapping', 'custmers']],
  ])('keeps the list of an earlier reconciliation if the %s is misspelled', async (_, args) => {
    const file = join(shop.folder, 'differences.jsonl');
    writeFileSync(file, 'an earlier list');
    expect((await call('reconcile', ...args, '--out', file)).code).toBe(2);
    expect(readFileSync(file, 'utf8')).toBe('an earlier list');
  });

  it('empties the list of an earlier reconciliation if nothing differs any more', async () => {
    const file = join(shop.folder, 'differences.jsonl');
    writeFileSync(file, 'an earlier list');
    expect((await call('reconcile', SYNC, '--mapping', 'customers', '--out', file)).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe('');
  });

  it('exits with 3 if rows could not be delivered, and shows the causes', async () => {
    await shop.source.query(
      `UPDATE shop.customers SET email = 'canary-broken', updated_at = clock_timestamp() WHERE id = 1`,
    );
    const { code, stdout } = await callProcess('run', SYNC);
    expect(code).toBe(3);
    expect(stdout).toContain('COMPLETE WITH DEAD LETTERS');
    expect(stdout).toMatch(/1\s+customers\s+\/email\s+format: email\s+record_invalid/);
  });

  it('exits with 1 while records wait, and says that they will be retried', async () => {
    await shop.source.query(
      `INSERT INTO shop.orders (no, customer_id, updated_at) VALUES ('orphan', 4711, clock_timestamp())`,
    );
    const { code, stdout } = await callProcess('run', SYNC, '--mapping', 'orders');
    expect(code).toBe(1);
    expect(stdout).toContain('INCOMPLETE');
    expect(stdout).toContain('1 record waits; a later run delivers it once what it waits for is there.');
  });

  it('finds a difference, and exits with 1', async () => {
    const { code, stdout } = await call('reconcile', SYNC, '--read-back', 'all');
    expect(code).toBe(1);
    expect(stdout).toContain('orders/orphan of tenant north: not on the platform');
  });

  it('loads a list of records again', async () => {
    const { code, json } = await call('backfill', SYNC, '--mapping', 'customers', '--external-id', '2', '3', '--json');
    expect(code).toBe(0);
    expect(json<RunReport>()).toMatchObject({ kind: 'backfill', total: { read: 2, unchanged: 2 } });
  });

  it('says what is wrong with an input', async () => {
    const { code, stderr, stdout } = await call('backfill', SYNC, '--external-id', '2', '--json');
    expect(code).toBe(2);
    expect(stderr).toContain('--mapping');
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'input_invalid' } });
  });

  it('shows the latest runs and the state of each mapping', async () => {
    const { code, json } = await call('status', SYNC, '--json');
    // A record waits, so something is wrong.
    expect(code).toBe(1);
    const { runs, mappings, healths } = json<{
      runs: { outcome: string }[];
      mappings: object[];
      healths: { problems: { trigger: string }[] }[];
    }>();
    expect(healths.map(({ problems }) => problems.map(({ trigger }) => trigger))).toEqual([['incomplete']]);
    expect(runs.map((r) => r.outcome)).toEqual(
      expect.arrayContaining(['complete', 'complete_with_dead_letters', 'incomplete', 'failed']),
    );
    expect(mappings).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ mapping: 'customers', deadLettered: 1, waiting: 0 }),
        expect.objectContaining({ mapping: 'orders', accepted: 30, waiting: 1 }),
      ]),
    );
    expect((await call('status')).stdout).toContain('incomplete');
  });
});

describe('schedules', () => {
  const apply = async () =>
    (await call('schedules', 'apply', SYNC, '--json'))
      .json<{
        schedules: { id: string; action: string; paused: boolean }[];
      }>()
      .schedules.filter(({ id }) => id.startsWith('partner-sync/'));
  const declare = (schedules: object[]) => {
    const file = join(shop.folder, SYNC, 'sync.yaml');
    const rest = readFileSync(file, 'utf8').replace(/^schedules:.*\n/m, '');
    shop.write('sync.yaml', `${rest}schedules: ${JSON.stringify(schedules)}\n`);
  };
  const hourly = { name: 'hourly', every: '1h', jitter: '10s' };
  const nightly = { name: 'nightly', mode: 'full', cron: '30 3 * * *', timezone: 'Europe/London' };

  it('are created as declared, unchanged by a second apply, left paused, and removed when no longer declared', async () => {
    declare([hourly, nightly]);
    expect((await apply()).map((s) => [s.id, s.action])).toEqual([
      ['partner-sync/shop/hourly', 'created'],
      ['partner-sync/shop/nightly', 'created'],
    ]);
    const before = await shop.client.schedule.getHandle('partner-sync/shop/nightly').describe();
    await shop.client.schedule.getHandle('partner-sync/shop/hourly').pause('holidays');

    const again = await apply();
    expect(again.map((s) => [s.action, s.paused])).toEqual([
      ['updated', true],
      ['updated', false],
    ]);
    const after = await shop.client.schedule.getHandle('partner-sync/shop/nightly').describe();
    expect(after.spec).toEqual(before.spec);
    expect(after.policies).toEqual(before.policies);
    expect(after.action).toMatchObject({
      workflowType: 'sync',
      taskQueue: shop.taskQueue,
      args: [{ sync: SYNC, mode: 'full' }],
    });
    const paused = await shop.client.schedule.getHandle('partner-sync/shop/hourly').describe();
    expect(paused.state).toMatchObject({ paused: true, note: 'holidays' });

    declare([nightly]);
    expect((await apply()).map((s) => [s.id, s.action])).toEqual([
      ['partner-sync/shop/nightly', 'updated'],
      ['partner-sync/shop/hourly', 'removed'],
    ]);
    const listed = (await call('schedules', 'list', SYNC, '--json')).json<{ schedules: { id: string }[] }>().schedules;
    expect(listed.map((s) => s.id)).toEqual(['partner-sync/shop/nightly']);

    declare([]);
    await apply();
    expect((await call('schedules', 'list', SYNC)).stdout).toContain('no schedules for shop');
  });

  it('are paused with a reason, triggered and resumed, and show how their runs end', async () => {
    declare([hourly, nightly]);
    await apply();
    const control = (...args: string[]) => call('schedules', ...args);

    expect(await control('pause', SYNC)).toMatchObject({ code: 2 });
    expect(await control('pause', SYNC, 'nighty', '--reason', 'x')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        'shop has no schedule "nighty" in Temporal; there are: hourly, nightly',
      ) as string,
    });
    expect((await control('pause', SYNC, 'hourly', '--reason', 'stocktaking')).stdout).toMatch(/hourly +paused +yes/);
    expect((await control('trigger', SYNC, 'hourly')).stdout).toMatch(/hourly +triggered +yes/);
    await eventually('the run of the schedule', async () => {
      const { stdout } = await control('list', SYNC);
      return /shop\/hourly +yes +(in)?complete \d{4}-\d\d-\d\d \d\d:\d\d +[01] .*stocktaking \(.+@.+\)/.test(stdout);
    });
    expect((await control('resume', SYNC, '--reason', 'done')).stdout).toMatch(
      /hourly +resumed +no[^]*nightly +resumed +no/,
    );
    expect(await shop.state.query(`SELECT started_by FROM partner_sync.runs WHERE trigger = 'schedule'`)).toEqual([
      { started_by: 'partner-sync/shop/hourly' },
    ]);
    declare([]);
    await apply();
  });

  it('are not listed for a sync that does not exist', async () => {
    const { code, stderr } = await call('schedules', 'list', 'shpo');
    expect(code).toBe(2);
    expect(stderr).toContain('there is no sync "shpo"');
    expect(stderr).toContain('did you mean "shop"?');
  });
});

describe('schema definitions that changed after they were pushed', () => {
  const file = 'customer.schema.json';
  let good: string;
  beforeAll(() => {
    good = readFileSync(join(shop.folder, SYNC, file), 'utf8');
    shop.proxy.forget();
  });
  afterEach(() => shop.write(file, good));

  it('shows each difference and its place with diff', async () => {
    expect((await call('schema', 'diff', SYNC)).code).toBe(0);
    shop.write(
      file,
      good
        .replace('"required":["customerId"]', '"required":["customerId","name"]')
        .replace('"format":"email"', '"maxLength":9'),
    );
    const { code, stdout } = await call('schema', 'diff', SYNC);
    expect(code).toBe(1);
    expect(stdout).toContain('customer  ~ changed since it was pushed');
    expect(stdout).toContain('schema.required: ["customerId"] -> ["customerId","name"]');
    expect(stdout).toContain('schema.properties.email.format: "email" -> (nothing)');
    expect(stdout).toContain('schema.properties.email.maxLength: (nothing) -> 9');
    expect(stdout).toContain('1 of 3 schema definitions differs from what was pushed.');
  });

  it('sends nothing if the change is impossible, and push says so first', async () => {
    shop.write(file, good.replace('"category":"custom_schema"', '"category":"contacts_schema"'));
    const { code, stderr } = await call('schema', 'push', SYNC);
    expect(code).toBe(2);
    expect(stderr).toContain('category: "custom_schema" -> "contacts_schema"  IMMUTABLE');
    expect(stderr).toContain('Nothing was sent');
    expect(shop.proxy.requests).toEqual([]);
  });
});

it('reports a schema file that changed after it was pushed, and sends nothing for it', async () => {
  const file = 'customer.schema.json';
  const good = readFileSync(join(shop.folder, SYNC, file), 'utf8');
  shop.write(file, good.replace('"required":["customerId"]', '"required":["customerId","name"]'));
  shop.proxy.forget();
  const { code, stdout } = await call('schema', 'push', SYNC);
  shop.write(file, good);
  expect(code).toBe(1);
  expect(stdout).toContain('CHANGED since it was pushed');
  expect(shop.proxy.requests).toEqual([]);
});

describe('a server that cannot be reached', () => {
  const cases: readonly (readonly [string, readonly string[], Record<string, string>, number, string])[] = [
    [
      'Temporal',
      ['run', SYNC],
      { TEMPORAL_ADDRESS: '127.0.0.1:1' },
      2,
      'no Temporal server can be reached at 127.0.0.1:1',
    ],
    [
      "the ledger's database",
      ['status'],
      { PARTNER_SYNC_STATE_URL: 'postgres://u:hunter2@127.0.0.1:1/x' },
      1,
      'state_unreachable',
    ],
    ['the source', ['check', SYNC], { SOURCE_URL: 'postgres://u:hunter2@127.0.0.1:1/x' }, 1, 'source_unreachable'],
    [
      'an address in the clear',
      ['schema', 'push', SYNC],
      { PLATFORM_BASE_URL: 'http://platform.example.com' },
      2,
      'must be https',
    ],
  ];
  for (const [what, args, env, code, words] of cases)
    it(what, async () => {
      const end = hear(await partnerSync(args, { ...shop.env, ...env }));
      expect(end.stdout + end.stderr).toContain(words);
      expect(end.code).toBe(code);
      expect(end.stdout + end.stderr).not.toContain('hunter2');
      expect(end.stderr).not.toMatch(/^\s+at /m);
    });
});

it('never prints a token, a password or a value of a row', () => {
  const all = [...said, worker.output()].join('\n');
  expect(said.length).toBeGreaterThan(40);
  expect(all.includes(shop.token)).toBe(false);
  expect(all.includes(shop.source.url)).toBe(false);
  expect(all.includes(shop.state.url)).toBe(false);
  expect(all).not.toMatch(/canary|hunter2|@example\.org|Customer \d/);
});
