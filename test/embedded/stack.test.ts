/** The stack starts as a whole, publishes how to use it, and stops in order. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { isAlive } from '../../src/embedded/is-alive.js';
import { findEnvironment } from '../../src/config/dev-stack.js';
import { choicesOf, SHIPPED_MAPPINGS } from '../../src/embedded/stack-environment.js';
import { startStack, type Stack } from '../../src/embedded/stack.js';
import { attachStack } from '../../src/embedded/stack-folder.js';

/** Who names one of these works with servers of their own: a stack is used as a whole, or not at all. */
const SERVERS = ['PARTNER_SYNC_STATE_URL', 'PLATFORM_BASE_URL', 'TEMPORAL_ADDRESS'];
const FAKE_CLI = fileURLToPath(new URL('fake-cli.mjs', import.meta.url));

describe('the stack', () => {
  let root: string;
  let folder: string;
  let stack: Stack;
  const said: string[] = [];

  const start = (choices: Record<string, string> = {}): Promise<Stack> =>
    startStack({
      folder,
      choices,
      log: (line) => void said.push(line),
      worker: true,
      shop: true,
      mappings: SHIPPED_MAPPINGS,
      own: process.env,
      mintToken: ({ scope }) => Promise.resolve(`token for ${scope}`),
      cli: [process.execPath, FAKE_CLI],
    });

  beforeAll(async () => {
    // Given, Temporal would not be ours to start.
    vi.stubEnv('TEMPORAL_ADDRESS', undefined);
    root = mkdtempSync(join(tmpdir(), 'partner-sync-stack-test-'));
    chmodSync(root, 0o755);
    folder = join(root, '.partner-sync');
    stack = await start();
  });
  afterAll(async () => {
    await stack.stop();
    vi.unstubAllEnvs();
    rmSync(root, { recursive: true, force: true });
  });

  it('tells its processes and other commands where everything is, in files that only their owner can read', () => {
    const attached = attachStack({ folder });
    expect(attached).toMatchObject({ ownerPid: process.pid, uiUrl: stack.uiUrl, sandboxUrl: stack.sandboxUrl });
    expect(attached?.env).toEqual(stack.env);
    expect(stack.env).toMatchObject({ PLATFORM_TENANT: 'demo-shop', PARTNER_SYNC_TASK_QUEUE: 'partner-sync' });
    expect(readFileSync(stack.env.PLATFORM_TOKEN_FILE!, 'utf8')).toBe('token for platform\n');
    expect(readFileSync(join(folder, 'stack.json'), 'utf8')).not.toContain('postgres://');
    for (const file of ['dev.env', 'stack.json', 'platform-token', 'sandbox-jwt-secret', 'shop-reader-password']) {
      expect(statSync(join(folder, file)).mode & 0o777, file).toBe(0o600);
    }
  });

  it('lets the sync read the shop, but no other database', async () => {
    const source = new Client({ connectionString: stack.env.SOURCE_URL });
    await source.connect();
    const { rows } = await source.query('SELECT count(*)::int AS n FROM shop.invoices');
    await source.end();
    expect(rows).toEqual([{ n: 2_025 }]);
    const state = new Client({
      connectionString: Object.assign(new URL(stack.env.SOURCE_URL!), { pathname: '/partner_sync' }).href,
    });
    await expect(state.connect()).rejects.toMatchObject({ code: '42501' });
  });

  it('supplies only variables that the environment does not set, whichever way it names a secret', () => {
    const env = (own: Record<string, string>) => findEnvironment(root, own).env;

    const { DEMO_SHOP_URL: _, ...supplied } = stack.env;
    for (const name of Object.keys(supplied).filter((each) => !SERVERS.includes(each)))
      expect(env({ [name]: 'mine' }), name).toEqual({ ...stack.env, [name]: 'mine' });
    for (const name of SERVERS) expect(env({ [name]: 'mine' }), name).toEqual({ [name]: 'mine' });
    expect(env({ PARTNER_SYNC_MAPPINGS: '' })).toEqual(stack.env);
    const { PLATFORM_TOKEN_FILE: __, ...others } = stack.env;
    expect(env({ PLATFORM_TOKEN: 'mine' })).toEqual({ ...others, PLATFORM_TOKEN: 'mine' });
  });

  it('supplies only what .env does not set, which supplies only what the environment does not set', () => {
    writeFileSync(
      join(root, '.env'),
      'PARTNER_SYNC_MAPPINGS=./of-the-file\nPLATFORM_TENANT=of-the-file\nPLATFORM_TOKEN=of-the-file\n',
    );
    onTestFinished(() => rmSync(join(root, '.env')));

    const { PLATFORM_TOKEN_FILE: _, ...others } = stack.env;
    expect(findEnvironment(root, { PLATFORM_TENANT: 'mine' }).env).toEqual({
      ...others,
      PARTNER_SYNC_MAPPINGS: './of-the-file',
      PLATFORM_TENANT: 'mine',
      PLATFORM_TOKEN: 'of-the-file',
    });
    expect(findEnvironment(root, { PLATFORM_TOKEN_FILE: '/mine' }).env).toMatchObject({ PLATFORM_TOKEN_FILE: '/mine' });
    expect(findEnvironment(root, { PLATFORM_TOKEN_FILE: '/mine' }).env).not.toHaveProperty('PLATFORM_TOKEN');
  });

  it('tells of values that a command sets differently from the worker that is up', () => {
    const differing = (own: Record<string, string>) => findEnvironment(root, own).notInWorker;

    expect(differing({})).toEqual([]);
    expect(differing({ PARTNER_SYNC_MAPPINGS: './mine', SOURCE_URL: stack.env.SOURCE_URL! })).toEqual([
      'PARTNER_SYNC_MAPPINGS',
    ]);
    expect(differing({ PARTNER_SYNC_MAPPINGS: SHIPPED_MAPPINGS, PLATFORM_TENANT: 'acme' })).toEqual([
      'PLATFORM_TENANT',
    ]);
  });

  it('refuses a second owner of the same folder', async () => {
    await expect(start()).rejects.toThrow(`kept by process ${process.pid}`);
  });

  it('restarts a worker that dies, and says so', async () => {
    const first = stack.worker!.pid;
    process.kill(first, 'SIGKILL');
    await vi.waitFor(() => expect(said).toContain('The worker is up again'), { timeout: 50_000, interval: 100 });
    expect(said).toContain('The worker ended by itself (SIGKILL). Starting it again ...');
    expect(stack.worker!.pid).not.toBe(first);
    expect(isAlive(stack.worker!.pid)).toBe(true);
  });

  it('reports a sandbox that dies, since nothing works without it', async () => {
    process.kill(stack.sandbox.pid, 'SIGKILL');
    expect(await stack.failed).toBe('The sandbox ended by itself (SIGKILL).\nsandbox started');
  });

  it('drains the worker, stops the rest after it, and starts again at the same addresses', async () => {
    const { sandboxUrl, uiUrl, temporalAddress, env } = stack;
    await stack.stop();
    expect(readFileSync(join(folder, 'logs', 'worker.log'), 'utf8')).toMatch(/worker drained\n$/);
    expect(existsSync(join(folder, 'dev.env'))).toBe(false);
    expect(attachStack({ folder })).toBeUndefined();

    stack = await start();
    expect({ ...stack }).toMatchObject({ sandboxUrl, uiUrl, temporalAddress });
    expect(stack.env).toEqual(env);
  });

  it('starts the worker again with variables that were changed, and with paths from the folder of the project', async () => {
    const { pid } = stack.worker!;
    expect(await stack.renewEnvironment(process.env)).toBe(false);
    expect(stack.worker!.pid).toBe(pid);

    const own = {
      ...process.env,
      SHOP_URL: 'sqlite:data/shop.db',
      SHOP_TOKEN_FILE: 'secrets/token',
      PLATFORM_TOKEN: 'real',
    };
    expect(await stack.renewEnvironment(own)).toBe(true);

    expect(isAlive(pid)).toBe(false);
    const environment = readFileSync(`/proc/${stack.worker!.pid}/environ`, 'utf8').split('\0');
    expect(environment).toContain(`SHOP_URL=sqlite:${resolve('data/shop.db')}`);
    expect(environment).toContain(`SHOP_TOKEN_FILE=${resolve('secrets/token')}`);
    expect(environment).not.toContain('PLATFORM_TOKEN=real');
    expect(stack.processEnv).toMatchObject({ SHOP_URL: `sqlite:${resolve('data/shop.db')}` });
  });

  it('lets the environment choose the mappings, the source, the task queue and the tenant of its worker', async () => {
    await stack.stop();
    const said = {
      PARTNER_SYNC_MAPPINGS: './mine',
      SOURCE_URL: 'postgres://mine',
      PARTNER_SYNC_TASK_QUEUE: 'mine',
      PLATFORM_TENANT: 'acme',
      PLATFORM_BASE_URL: 'https://platform.example.com',
    };

    stack = await start(choicesOf(said));

    const { PLATFORM_BASE_URL: _, ...chosen } = { ...said, PARTNER_SYNC_MAPPINGS: resolve('mine') };
    // The worker polls the task queue that was chosen, or the stack would not be up.
    expect(stack.env).toMatchObject({ ...chosen, PLATFORM_BASE_URL: stack.sandboxUrl });
    expect([...attachStack({ folder })!.chosen].sort()).toEqual(Object.keys(chosen).sort());
    const { tenants } = JSON.parse(readFileSync(join(folder, 'sandbox-fixture.json'), 'utf8')) as { tenants: object[] };
    expect(tenants).toEqual([
      expect.objectContaining({ id: 'demo-shop' }),
      { id: 'acme', name: 'acme', externalId: 'acme' },
    ]);
  });
});
