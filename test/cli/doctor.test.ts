/** `doctor`: one line for each thing that a run needs, with a remedy if there is a problem. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { queueOfWorker } from '../../src/domain/run/work.js';
import { mintToken } from '../../src/sandbox/token.js';
import { openShop, SYNC, type Shop } from '../pipeline/shop.js';
import { build, startWorkerProcess, type WorkerProcess } from '../pipeline/worker-process.js';
import { runInProcess } from './in-process.js';

interface Examined {
  readonly name: string;
  readonly health: 'ok' | 'warn' | 'FAIL' | 'skip';
  readonly what: string;
  readonly remedy?: string;
}

let shop: Shop;
let reader: string;

beforeAll(async () => {
  await build();
  shop = await openShop({ pushed: false, ledger: false });
  reader = `doctor_${new URL(shop.source.url).pathname.slice(1)}`;
  await shop.source.query(`CREATE ROLE ${reader} LOGIN PASSWORD 'hunter2'; GRANT USAGE ON SCHEMA shop TO ${reader};
    GRANT SELECT ON shop.customers, shop.orders TO ${reader}`);
});
afterAll(async () => {
  await shop.source.query(`DROP OWNED BY ${reader}; DROP ROLE ${reader}`);
  await shop.close();
});

async function doctor(env: Record<string, string> = {}): Promise<{ code: number; of: Record<string, Examined> }> {
  const { code, json, stdout, stderr } = await runInProcess(['doctor', SYNC, '--json'], { ...shop.env, ...env });
  expect(stdout + stderr).not.toMatch(/hunter2/);
  expect(stdout + stderr).not.toContain(shop.token);
  return { code, of: Object.fromEntries(json<{ examined: Examined[] }>().examined.map((e) => [e.name, e])) };
}

it('reports no problem except what does not exist yet, and sends only GET requests to the platform', async () => {
  shop.proxy.forget();
  const { code, of } = await doctor();
  const health = Object.fromEntries(Object.values(of).map((e) => [e.name, e.health]));
  expect(health).toMatchObject({
    node: 'ok',
    files: 'ok',
    source: 'ok',
    grants: 'ok',
    'source clock': 'ok',
    lateness: 'ok',
    platform: 'ok',
    temporal: 'ok',
  });
  expect(of['state']).toMatchObject({ health: 'warn', what: expect.stringContaining('no ledger yet') as string });
  expect(of['schemas']).toMatchObject({ health: 'warn', remedy: 'partner-sync schema push shop' });
  expect(of['workers']).toMatchObject({ health: 'warn', remedy: 'partner-sync worker' });
  // The tests' account is a superuser.
  expect(of['reads only']!.health).toBe('warn');
  expect(code).toBe(0);
  expect(new Set(shop.proxy.requests.map((r) => r.method))).toEqual(new Set(['GET']));
});

it('says which privilege is missing, and what follows from not seeing the transactions of other accounts', async () => {
  const url = Object.assign(new URL(shop.source.url), { username: reader, password: 'hunter2' }).href;
  const { code, of } = await doctor({ SOURCE_URL: url });
  expect(of['grants']).toMatchObject({
    health: 'FAIL',
    what: 'shop.lines cannot be read',
    remedy: `GRANT SELECT ON shop.lines TO ${reader}`,
  });
  expect(of['reads only']!.health).toBe('ok');
  expect(of['lateness']).toMatchObject({ health: 'warn', remedy: `GRANT pg_read_all_stats TO "${reader}"` });
  expect(code).toBe(1);
});

it('says how far an open transaction holds reading back', async () => {
  const open = await shop.source.connect();
  await open.query('BEGIN; SELECT 1');
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const { of } = await doctor();
  await open.end();
  expect(of['lateness']).toMatchObject({
    health: 'warn',
    what: expect.stringMatching(/open for [1-9]\d* s/) as string,
  });
});

it('measures the lag of a cursor without a zone in the local time of its zone', async () => {
  await shop.source.query(
    `ALTER TABLE shop.customers ALTER updated_at TYPE timestamp, ALTER updated_at SET DEFAULT now() AT TIME ZONE 'America/New_York'`,
  );
  const file = join(shop.folder, SYNC, 'customers.mapping.yaml');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(/^cursor:.*$/m, 'cursor: { column: updated_at, zone: America/New_York }'));
  const { of } = await doctor();
  writeFileSync(file, text);
  await shop.source.query(
    'ALTER TABLE shop.customers ALTER updated_at TYPE timestamptz, ALTER updated_at SET DEFAULT now()',
  );
  expect(of['lateness']).toMatchObject({
    health: 'ok',
    what: expect.stringMatching(/^reading is \d\.\d s behind/) as string,
  });
});

it('examines everything even if much is down, and gives a remedy for each problem', async () => {
  const expired = await mintToken({
    secret: 'another secret that nobody here knows',
    scope: 'platform',
    expiresIn: '1s',
  });
  const { code, of } = await doctor({
    SOURCE_URL: 'postgres://u:hunter2@127.0.0.1:1/x',
    PARTNER_SYNC_STATE_URL: 'postgres://u:hunter2@127.0.0.1:1/x',
    PLATFORM_TOKEN: expired,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
  });
  const failed = Object.values(of).filter((e) => e.health === 'FAIL');
  expect(failed.map((e) => e.name)).toEqual(['source', 'state', 'platform', 'schemas', 'temporal']);
  expect(failed.every((e) => e.remedy !== undefined && e.remedy !== '')).toBe(true);
  expect(code).toBe(1);
});

it('says that the platform cannot change a schema definition that was edited after it was pushed', async () => {
  expect((await runInProcess(['schema', 'push', SYNC], shop.env)).code).toBe(0);
  expect((await doctor()).of['schemas']).toMatchObject({ health: 'ok' });
  const file = join(shop.folder, SYNC, 'customer.schema.json');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace('"properties":{', '"properties":{"nickname":{"type":"string"},'));
  const { of } = await doctor();
  writeFileSync(file, text);
  expect(of['schemas']).toMatchObject({
    health: 'warn',
    what: 'changed since they were pushed, and the platform cannot change them: customer',
  });
});

/** What doctor says of the workers, line by line. */
async function ofWorkers(
  more: Record<string, string> = {},
): Promise<{ code: number; stderr: string; lines: Examined[] }> {
  const { code, json, stdout, stderr } = await runInProcess(['doctor', SYNC, '--json'], { ...shop.env, ...more });
  expect(stdout).not.toContain(shop.token);
  return {
    code,
    stderr,
    lines: json<{ examined: Examined[] }>().examined.filter(({ name }) => /^workers?$/.test(name)),
  };
}
async function worker(more: Record<string, string> = {}): Promise<WorkerProcess & { readonly identity: string }> {
  const started = await startWorkerProcess(shop, more);
  onTestFinished(() => void started.child.kill('SIGKILL'));
  return { ...started, identity: `${started.child.pid}@${hostname()}` };
}

it('examines the workers: one lacks a variable, one has other files and another value, one is frozen', async () => {
  const good = await worker();
  expect(await ofWorkers()).toMatchObject({ code: 0, lines: [{ name: 'workers', health: 'ok' }] });

  const lacking = await worker({ SOURCE_URL: '' });
  const folder = mkdtempSync(join(tmpdir(), 'other-files-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(join(shop.folder, SYNC), join(folder, SYNC), { recursive: true });
  const file = join(folder, SYNC, 'orders.mapping.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace('total: total', 'total: { constant: 1 }'));
  const other = await worker({ PARTNER_SYNC_MAPPINGS: folder, PLATFORM_TOKEN_WAIT: '7s' });
  const wrong = await ofWorkers({ PLATFORM_REQUESTS_PER_SECOND: '50' });
  expect(wrong.code).toBe(1);
  const said = wrong.lines.map(({ health, what }) => `${health} ${what}`);
  expect(said).toContainEqual(expect.stringMatching(/^ok 3 on task queue/));
  expect(said).toContainEqual(
    expect.stringContaining(
      `FAIL ${lacking.identity}: files: shop/sync.yaml:1:23 error env_missing source.connection: the environment variable SOURCE_URL is not set`,
    ),
  );
  expect(said).toContainEqual(expect.stringContaining('FAIL the workers have different versions of the files'));
  expect(said.join()).toContain(` on ${other.identity}`);

  // Names only, and no variable that is the same, such as the token.
  expect(said).toContainEqual(`warn ${other.identity} has other values than this machine: PLATFORM_TOKEN_WAIT`);
  expect(said).toContainEqual(`warn ${good.identity} lacks variables that are set here: PLATFORM_REQUESTS_PER_SECOND`);
  expect(said.filter((line) => line.includes(good.identity))).toHaveLength(2);

  other.child.kill('SIGSTOP');
  lacking.child.kill('SIGSTOP');
  const some = await ofWorkers();
  const frozen = some.lines.filter(({ health }) => health === 'FAIL').map(({ what }) => what);
  expect(some.stderr).toContain('1 of 3 workers answered; waiting for at most 40 s for the rest ...');
  expect(frozen.sort()).toEqual(
    [lacking, other].map(({ identity }) => `${identity} does not respond: it is frozen, or ended a moment ago`).sort(),
  );

  good.child.kill('SIGSTOP');
  const none = await ofWorkers();
  expect(none.lines[0]).toMatchObject({ health: 'FAIL', what: expect.stringContaining('responds') as string });
  expect(none.stderr).toContain('no worker has answered yet; waiting for at most 40 s ...');
  expect(none.code).toBe(1);
});

it('does not mention workers of this machine that were drained or killed, and says which one is frozen', async () => {
  const taskQueue = { PARTNER_SYNC_TASK_QUEUE: `${shop.taskQueue}-replaced` };
  const [drained, killed, frozen] = [await worker(taskQueue), await worker(taskQueue), await worker(taskQueue)];
  await worker(taskQueue);
  drained.child.kill('SIGTERM');
  killed.child.kill('SIGKILL');
  frozen.child.kill('SIGSTOP');
  await Promise.all([drained.ended, killed.ended]);

  const { lines } = await ofWorkers(taskQueue);

  expect(lines.map(({ health, what }) => `${health} ${what}`)).toEqual([
    `ok 1 on task queue ${taskQueue.PARTNER_SYNC_TASK_QUEUE}, which responds`,
    `FAIL ${frozen.identity} does not respond: it is frozen, or ended a moment ago`,
  ]);
});

/** A worker as another machine would have it. `examineWorker` is what it does when it is asked. */
async function workerElsewhere(
  taskQueue: string,
  identity: string,
  examineWorker: () => Promise<void>,
): Promise<{ readonly end: () => Promise<void> }> {
  const connection = await NativeConnection.connect({ address: shop.env['TEMPORAL_ADDRESS']! });
  const workers = await Promise.all(
    [taskQueue, queueOfWorker(taskQueue, identity)].map((name) =>
      Worker.create({ connection, identity, taskQueue: name, activities: { examineWorker } }),
    ),
  );
  const ended = Promise.all(workers.map((each) => each.run()));
  const end = async (): Promise<void> => {
    for (const each of workers) each.shutdown();
    await ended;
    await connection.close();
  };
  return { end };
}

it('tells a worker of another machine that has ended from one that takes the question and does not answer', async () => {
  const taskQueue = `${shop.taskQueue}-elsewhere`;
  await worker({ PARTNER_SYNC_TASK_QUEUE: taskQueue });
  const ended = await workerElsewhere(taskQueue, '1@ended', () => Promise.resolve());
  let answer = (): void => undefined;
  const frozen = await workerElsewhere(taskQueue, '1@frozen', () => new Promise((resolve) => (answer = resolve)));
  await ended.end();

  const { lines } = await ofWorkers({ PARTNER_SYNC_TASK_QUEUE: taskQueue });
  answer();
  await frozen.end();

  expect(lines.map(({ health, what }) => `${health} ${what}`)).toEqual([
    expect.stringMatching(/^ok 1 on task queue/),
    'FAIL 1@frozen does not respond: it is frozen, or ended a moment ago',
    expect.stringMatching(/^warn 1@ended has not asked for work since 20\d\d-/),
  ]);
});

it('compares the file that the address of an SQLite source means in each folder, not the text of the address', async () => {
  const taskQueue = { PARTNER_SYNC_TASK_QUEUE: `${shop.taskQueue}-sqlite` };
  const file = join(shop.folder, 'shop.db');
  writeFileSync(file, '');
  symlinkSync(file, join(shop.folder, 'current.db'));
  const started = await worker({ ...taskQueue, SOURCE_URL: 'sqlite:./shop.db' });
  const differences = async (address: string): Promise<string[]> => {
    const { lines } = await ofWorkers({ ...taskQueue, SOURCE_URL: address });
    expect(lines).toContainEqual(expect.objectContaining({ name: 'workers', health: 'ok' }));
    return lines.map(({ what }) => what).filter((what) => what.includes('other values'));
  };
  // Commands run in a folder beside the shop's.
  expect(await differences(`sqlite:../${basename(shop.folder)}/shop.db`)).toEqual([]);
  expect(await differences(`SQLite://${join(shop.folder, 'current.db')}`)).toEqual([]);

  const other = [`${started.identity} has other values than this machine: SOURCE_URL`];
  expect(await differences('sqlite:./shop.db')).toEqual(other);
  expect(await differences(`sqlite:${join(shop.folder, 'other.db')}`)).toEqual(other);
});
