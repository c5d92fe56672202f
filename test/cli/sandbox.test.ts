/** `partner-sync sandbox`: start, load, tokens, and messages about invalid files. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertServer } from '../../src/sandbox/migrations.js';
import { CLI } from '../pipeline/worker-process.js';
import { endWithOwner } from '../../src/embedded/end-with-owner.js';
import { createDatabase, type TestDatabase } from '../sandbox/running-sandbox.js';
import { partnerSync } from './command-line.js';
import { runInProcess } from './in-process.js';

const SECRET = 'a secret for tests, long enough for HS256';

let database: TestDatabase;
let folder: string;
let env: Record<string, string>;
beforeAll(async () => {
  database = await createDatabase('cli-sandbox');
  folder = mkdtempSync(join(tmpdir(), 'partner-sync-sandbox-'));
  env = { SANDBOX_STATE_URL: database.url, SANDBOX_JWT_SECRET: SECRET };
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await database.drop();
});

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

/** Starts the sandbox as a process; answers its address once it says that it is ready. */
async function started(args: readonly string[]): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, [CLI, 'sandbox', '--port', '0', ...args], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', ...env },
  });
  endWithOwner(child);
  let said = '';
  return new Promise((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      const url = /sandbox ready at (\S+)/.exec(said)?.[1];
      if (url !== undefined) resolve({ url, child });
    });
    child.once('exit', () => reject(new Error(`the sandbox ended: ${said}`)));
  });
}

describe('partner-sync sandbox', () => {
  it('says that its port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { code, stderr } = await runInProcess(['sandbox', '--port', String(port)], env);
    other.close();
    const words = `cannot listen on 127.0.0.1, port ${port} (EADDRINUSE)`;
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
  });

  it.each([
    ['postgres://sandbox:a-password@127.0.0.1:1/none', "the sandbox's database cannot be used (ECONNREFUSED)"],
    ['mysql://sandbox:a-password@127.0.0.1/none', "the address of the sandbox's database must be one of PostgreSQL"],
    ['a-password', "the address of the sandbox's database must be one of PostgreSQL"],
  ])('says what is wrong with the database %s, without its password', async (url, words) => {
    const { code, stderr } = await runInProcess(['sandbox', '--port', '0', '--state-url', url], env);
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
    expect(stderr).not.toContain('a-password');
  });

  it('says that the database does not exist', async () => {
    const url = new URL(database.url);
    url.pathname = '/not_there';
    const { code, stderr } = await runInProcess(['sandbox', 'load', '--state-url', url.href], env);
    expect([code, stderr]).toEqual([2, expect.stringContaining('cannot be used (3D000)')]);
  });

  it('refuses a server that is too old for some operations', async () => {
    const raw = () => Promise.resolve({ rows: [{ version: '150013', version_name: '15.13' }] });
    await expect(assertServer({ raw } as unknown as Parameters<typeof assertServer>[0])).rejects.toThrowError(
      'the sandbox needs PostgreSQL 16 or newer; its database server is version 15.13',
    );
  });

  it('starts with the bundled fixture and the settings of a file, loads more tenants, and stops on a signal', async () => {
    const settings = file('settings.json', { authHeader: 'x-token', authScheme: '', callers: { open: ['platform'] } });
    const { url, child } = await started(['--settings', settings]);
    const token = (await partnerSync(['sandbox', 'token'], env)).stdout.trim();
    const tenants = async () => {
      const response = await fetch(`${url}/partner/engage/tenants`, { headers: { 'x-token': token } });
      return ((await response.json()) as { data: { results: { tenantId: string }[] } }).data.results.map(
        ({ tenantId }) => tenantId,
      );
    };
    const before = await tenants();
    const more = { tenants: [{ id: 'added', name: 'Added', onboardedAt: '2026-01-01T00:00:00Z' }] };
    const load = await partnerSync(['sandbox', 'load', file('more.json', more)], env);
    const after = await tenants();
    const ended = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(before).toContain('acme-outdoor');
    expect([load.code, load.stderr]).toEqual([0, 'loaded 1 tenant with their data\n']);
    expect(after).toEqual([...before, 'added'].sort((a, b) => after.indexOf(a) - after.indexOf(b)));
  });

  it('prints tokens of the platform account, and of one tenant', async () => {
    const claims = async (...args: string[]) => {
      const { stdout } = await runInProcess(['sandbox', 'token', ...args], env);
      return JSON.parse(Buffer.from(stdout.split('.')[1]!, 'base64url').toString()) as object;
    };
    expect(await claims()).toMatchObject({ scope: 'platform', aud: 'platform' });
    expect(await claims('--tenant', 'north', '--expires-in', '1h')).toMatchObject({ scope: 'tenant', tenant: 'north' });
  });

  it.each([
    [['sandbox', 'token', '--tenant', 'no such'], '"no such" is not a tenant id'],
    [['sandbox', 'token', '--expires-in', 'never'], 'Allowed: such as 90s, 10m or 1h, from 1s to 3650d.'],
    [['sandbox', 'load', 'not-there.json'], 'not-there.json cannot be read (ENOENT)'],
    [['sandbox', 'load', '<broken>'], 'broken.json is not JSON'],
    [['sandbox', 'load', '<wrong>'], '/tenants/0/nmae: unknown field; did you mean "name"?'],
    [['sandbox', '--fixture', '<wrong>'], '/tenants/0/nmae: unknown field; did you mean "name"?'],
    [['sandbox', '--settings', '<settings>'], '/errorShape: must be one of "standard", "alternative"'],
  ])('reports %j with one clear error and the exit code of wrong usage', async (args, message) => {
    const files: Record<string, string> = {
      '<broken>': file('broken.json', '{ "tenants": '),
      '<wrong>': file('wrong.json', { tenants: [{ id: 'a', nmae: 'A', name: 'A' }] }),
      '<settings>': file('wrong-settings.json', { errorShape: 'round' }),
    };
    const { code, stderr } = await runInProcess(
      args.map((arg) => files[arg] ?? arg),
      env,
    );
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});
