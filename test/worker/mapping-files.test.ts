/** Workers without the mapping files that a run needs: they do not start, or leave the run to other workers. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import type { RunReport } from '../../src/domain/run.js';
import { partnerSync } from '../cli/command-line.js';
import { failureOf, fill, openShop, shopForTest, SYNC, type Shop } from '../pipeline/shop.js';
import { build, startWorkerProcess, type WorkerProcess } from '../pipeline/worker-process.js';

beforeAll(build, 120_000);

const folderForTest = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'mappings-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

async function workerWith(shop: Shop, folder: string): Promise<WorkerProcess> {
  const worker = await startWorkerProcess(shop, { PARTNER_SYNC_MAPPINGS: folder });
  onTestFinished(() => void worker.child.kill('SIGKILL'));
  return worker;
}

describe('a worker does not start', () => {
  const empty = (): string => folderForTest();
  it.each([
    ['without its folder of syncs', () => join(empty(), 'nowhere'), 'does not exist'],
    ['if the folder is a file', () => join(withFile(empty(), 'mappings'), 'mappings'), 'cannot be read (ENOTDIR)'],
    ['if the folder is empty', empty, 'contains no sync'],
    ['if no folder in it is a sync', () => withFolder(empty(), 'shop'), 'contains no sync'],
  ])('%s', async (_, make, words) => {
    const folder = make();

    const { code, stderr } = await partnerSync(['worker'], {
      PARTNER_SYNC_MAPPINGS: folder,
      TEMPORAL_ADDRESS: inject('temporalAddress'),
    });

    expect(stderr).toContain(`config_invalid: PARTNER_SYNC_MAPPINGS: ${folder} ${words}`);
    expect(stderr).not.toContain('worker ready');
    expect(code).toBe(2);
  });
});

const withFile = (folder: string, name: string): string => {
  writeFileSync(join(folder, name), '');
  return folder;
};
const withFolder = (folder: string, name: string): string => {
  mkdirSync(join(folder, name));
  return folder;
};

it('leaves the runs of a sync that it lacks to workers that have it', async () => {
  const shop = await shopForTest();
  await fill(shop, 3);
  const folder = folderForTest();
  cpSync(join(shop.folder, SYNC), join(folder, 'another'), { recursive: true });
  await workerWith(shop, folder);

  for (let i = 0; i < 5; i++) expect((await shop.run({ mode: 'full' })).outcome).toBe('complete');
}, 180_000);

it('leaves the runs of a sync whose variable it lacks to workers that have it', async () => {
  const shop = await shopForTest();
  await fill(shop, 3);
  const worker = await startWorkerProcess(shop, { SOURCE_URL: '' });
  onTestFinished(() => void worker.child.kill('SIGKILL'));

  for (let i = 0; i < 3; i++) expect((await shop.run({ mode: 'full' })).outcome).toBe('complete');
}, 180_000);

it('leaves a run that began with other files to workers that have those', async () => {
  const shop = await shopForTest();
  await fill(shop, 3);
  const folder = folderForTest();
  cpSync(join(shop.folder, SYNC), join(folder, SYNC), { recursive: true });
  const file = join(folder, SYNC, 'orders.mapping.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace('total: total', 'total: { constant: 1 }'));
  await workerWith(shop, folder);

  for (let i = 0; i < 3; i++) expect((await shop.run({ mode: 'full' })).outcome).toBe('complete');
}, 300_000);

it('drains if its folder is gone, and another worker completes the run', async () => {
  const shop = await openShop();
  onTestFinished(() => shop.close());
  await fill(shop, 3);
  const folder = folderForTest();
  cpSync(join(shop.folder, SYNC), join(folder, SYNC), { recursive: true });
  const worker = await workerWith(shop, folder);
  rmSync(folder, { recursive: true });

  const run = await shop.start('sync', { sync: SYNC });

  expect(await worker.ended).toBe(2);
  expect(worker.output()).toContain(`${folder} does not exist`);
  await shop.work();
  expect(((await run.result()) as RunReport).outcome).toBe('complete');
}, 120_000);

it('fails a run whose sync no worker has, and names the worker that tried last', async () => {
  const shop = await shopForTest();

  const { type, message } = await failureOf(await shop.start('sync', { sync: 'shopp' }));

  expect(type).toBe('config_invalid');
  expect(message).toContain('shopp error sync_missing there is no such sync. Syncs: shop');
  expect(message).toMatch(/\(worker \d+@\S+, attempt 30 on whichever worker was free\)$/);
}, 120_000);
