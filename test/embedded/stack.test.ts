/** The stack comes up as a whole, tells others how to use it, and goes down in order. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { isAlive } from '../../src/embedded/detached-process.js';
import { attachStack, startStack, type Stack } from '../../src/embedded/stack.js';

const FAKE_CLI = fileURLToPath(new URL('fake-cli.mjs', import.meta.url));

describe('the stack', () => {
  let root: string;
  let folder: string;
  let stack: Stack;
  const said: string[] = [];

  const start = (): Promise<Stack> =>
    startStack({
      folder,
      log: (line) => void said.push(line),
      processes: ['sandbox', 'worker'],
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

  it('tells its processes and other commands where everything is, in files that nobody else can read', () => {
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

  it('gives the sync the shop to read, and no way into the databases beside it', async () => {
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

  it('refuses a second owner of the same folder', async () => {
    await expect(start()).rejects.toThrow(`kept by process ${process.pid}`);
  });

  it('starts a worker again that dies, and says so', async () => {
    const first = stack.worker!.pid;
    process.kill(first, 'SIGKILL');
    await vi.waitFor(() => expect(said).toContain('The worker is up again'), { timeout: 50_000, interval: 100 });
    expect(said).toContain('The worker ended by itself (SIGKILL). Starting it again ...');
    expect(stack.worker!.pid).not.toBe(first);
    expect(isAlive(stack.worker!.pid)).toBe(true);
  });

  it('reports a sandbox that dies: nothing can go on without it', async () => {
    process.kill(stack.sandbox!.pid, 'SIGKILL');
    expect(await stack.failed).toBe('The sandbox ended by itself (SIGKILL).\nsandbox started');
  });

  it('stops from the top down, drains the worker, and comes back at the same addresses', async () => {
    const { sandboxUrl, uiUrl, temporalAddress, env } = stack;
    await stack.stop();
    expect(readFileSync(join(folder, 'logs', 'worker.log'), 'utf8')).toMatch(/worker drained\n$/);
    expect(existsSync(join(folder, 'dev.env'))).toBe(false);
    expect(attachStack({ folder })).toBeUndefined();

    stack = await start();
    expect({ ...stack }).toMatchObject({ sandboxUrl, uiUrl, temporalAddress });
    expect(stack.env).toEqual(env);
  });
});
