/** `partner-sync demo --live`: the demo on a stack of its own, whose shop tells what changes in it. */
import { EXIT } from '../cli/command-context.js';
import { PartnerSyncError } from '../domain/errors.js';
import { quantity } from '../domain/values/quantity.js';
import type { DemoFlags } from './demo-command.js';
import { changeShop } from './demo.js';
import { runLiveDemo } from './live-demo.js';
import { writeLiveFiles } from './live-demo-files.js';
import { providePostgres } from './postgres-package.js';
import { liveDemoFolder } from './project.js';
import { howToEdit } from './psql-access.js';
import { attachStack, makeStackFolder, refuseSecondOwner } from './stack-folder.js';
import { withStack } from './with-stack.js';

const log = (line: string): void => void process.stdout.write(`${line}\n`);

/** Runs the live demo, or changes the shop of one that is up; returns the exit code. */
export async function liveDemo({ sql, live = false, edit = false, install = false }: DemoFlags): Promise<number> {
  if (!live) throw new PartnerSyncError('input_invalid', '--edit is an option of the live demo: add --live');
  const folder = liveDemoFolder();
  const running = attachStack({ folder });
  if (sql !== undefined) {
    if (running === undefined)
      throw new PartnerSyncError('input_invalid', 'no live demo is up here whose shop could be changed');
    log(`Changed in the shop: ${quantity(await changeShop(running.env, sql), 'row')}; the live demo shows it`);
    return EXIT.done;
  }
  refuseSecondOwner(folder);
  await providePostgres(install);
  makeStackFolder(folder);
  log('Starting PostgreSQL, Temporal, the sandbox platform and a worker on free ports of 127.0.0.1 ...');
  const mappings = writeLiveFiles(folder);
  const input = { folder, log, worker: true, shop: true, changeFeeds: true, mappings, own: process.env };
  const code = await withStack(input, edit ? EXIT.interrupted : null, (stack, asked) =>
    runLiveDemo({
      env: { ...stack.processEnv, ...stack.env },
      asked: edit ? null : asked,
      hints: howToEdit(folder, stack.env['DEMO_SHOP_URL']!),
    }),
  );
  // A comparison that Ctrl-C has cut short would go on asking servers that are gone by now.
  process.exit(code);
}
