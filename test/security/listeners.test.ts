/** What partner-sync serves can be reached from this machine only, unless somebody says otherwise. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { endWithOwner } from '../../src/embedded/end-with-owner.js';
import { freePort } from '../../src/embedded/ports.js';
import { JWT_SECRET, openShop } from '../pipeline/shop.js';
import { build, CLI, startWorkerProcess } from '../pipeline/worker-process.js';

beforeAll(build);

/** The addresses on which a process listens, as Linux writes them, in hexadecimal and without ports. */
function listeningOn(pid: number): string[] {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        // It was closed meanwhile.
        return [];
      }
    }),
  );
  return ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode]) => state === '0A' && sockets.has(inode!))
      .map(([, local]) => local!.split(':')[0]!),
  );
}

const LOOPBACK = '0100007F';

/** Starts a command, and resolves with its process once it says this. */
function start(args: readonly string[], env: Readonly<Record<string, string>>, ready: string): Promise<number> {
  const child = spawn(process.execPath, [CLI, ...args], { env: { PATH: process.env['PATH'] ?? '', ...env } });
  endWithOwner(child);
  onTestFinished(() => void child.kill('SIGKILL'));
  return new Promise((resolve, reject) => {
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes(ready)) resolve(child.pid!);
      });
    child.on('exit', (code) => reject(new Error(`it ended (${code}): ${output}`)));
  });
}

it('a worker with metrics, the console and the sandbox listen on 127.0.0.1, each on as few ports as it needs', async () => {
  const shop = await openShop();
  onTestFinished(() => shop.close());
  const sandbox = { ...shop.env, SANDBOX_STATE_URL: shop.state.url, SANDBOX_JWT_SECRET: JWT_SECRET };

  const quiet = await startWorkerProcess(shop);
  onTestFinished(() => void quiet.child.kill('SIGKILL'));
  const measured = await startWorkerProcess(shop, { PARTNER_SYNC_METRICS_PORT: String(await freePort()) });
  onTestFinished(() => void measured.child.kill('SIGKILL'));

  expect(listeningOn(quiet.child.pid!)).toEqual([]);
  expect(listeningOn(measured.child.pid!)).toEqual([LOOPBACK]);
  expect(listeningOn(await start(['console', '--port', '0'], shop.env, 'console ready'))).toEqual([LOOPBACK]);
  expect(listeningOn(await start(['sandbox', '--port', '0'], sandbox, 'http://'))).toEqual([LOOPBACK]);
  // What it looks like otherwise.
  const open = ['sandbox', '--port', '0', '--host', '0.0.0.0'];
  expect(listeningOn(await start(open, sandbox, 'http://'))).toEqual(['00000000']);
});

it('the console refuses to be reached by others without a login', async () => {
  await expect(start(['console', '--port', '0', '--host', '0.0.0.0'], {}, 'console ready')).rejects.toThrow(
    /it ended \(2\): [^]*people have to log in/,
  );
});
