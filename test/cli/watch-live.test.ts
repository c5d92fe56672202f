/** Watching a run in mode live from the command line: in a log, as tests have no terminal. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { fedShop, untilLoaded } from '../pipeline/fed-shop.js';
import { eventually, fill, SYNC, type Shop } from '../pipeline/shop.js';
import { build, CLI } from '../pipeline/worker-process.js';
import { startSlotServer, type SlotServer } from '../source/slot-server.js';
import { runInProcess } from './in-process.js';

let server: SlotServer;
beforeAll(async () => {
  await build();
  server = await startSlotServer();
});
afterAll(() => server.stop());

/** A command that somebody watches, and what it has written so far. */
function watched(shop: Shop, args: readonly string[]) {
  const env = { PATH: process.env['PATH'] ?? '', ...shop.env };
  const child = spawn(process.execPath, [CLI, ...args], { cwd: tmpdir(), env });
  onTestFinished(() => void child.kill('SIGKILL'));
  const written = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].on('data', (data: Buffer) => (written[stream] += data.toString()));
  const code = once(child, 'close').then(([exitCode]) => exitCode as number);
  const says = (what: RegExp) =>
    eventually(`that it says ${what}`, () => Promise.resolve(what.test(written.stderr)), 60);
  return { child, written, code, says };
}

it('says what the run does and what goes on with it, and ends with its report when somebody stops it', async () => {
  const shop = await fedShop(server);
  await fill(shop, 5);
  const command = watched(shop, ['run', SYNC, '--mode', 'live', '--json']);
  await untilLoaded(shop);
  await command.says(/^ {2}following: delivered up to .* ago; nothing to go/m);

  await runInProcess(['pause', SYNC, '--reason', 'stocktaking'], shop.env);
  await command.says(/^ {2}paused since .* \(stocktaking\): .*; partner-sync resume shop continues it$/m);
  await runInProcess(['resume', SYNC], shop.env);
  await runInProcess(['stop', SYNC], shop.env);

  expect(await command.code).toBe(0);
  // One document, and no progress in it.
  expect(JSON.parse(command.written.stdout)).toMatchObject({ mode: 'live', outcome: 'complete' });
});

it('leaves the run going at Ctrl-C, and says how to end it', async () => {
  const shop = await fedShop(server);
  await fill(shop, 5);
  const command = watched(shop, ['run', SYNC, '--mode', 'live']);
  await untilLoaded(shop);
  await command.says(/following/);

  command.child.kill('SIGINT');

  expect(await command.code).toBe(130);
  expect(command.written.stderr).toMatch(/left running: .*, and partner-sync stop shop ends it\n$/);
  await shop.source.query(`UPDATE shop.customers SET name = 'Afterwards' WHERE id = 2`);
  await eventually('that the run goes on', async () => (await shop.stored('customer', '2'))?.['name'] === 'Afterwards');
  await runInProcess(['stop', SYNC], shop.env);
});
