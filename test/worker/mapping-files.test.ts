/** Workers without the mapping files that a run needs: they do not start, or leave the run to other workers. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { compose } from '../../src/composition/compose.js';
import type { RunReport } from '../../src/domain/run/run.js';
import { keptFiles } from '../../src/mapping/kept-files.js';
import { inCampaign } from '../campaign.js';
import { partnerSync } from '../cli/command-line.js';
import { errorOf } from '../platform/stub-platform.js';
import { eventually, failureOf, fill, openShop, reportOf, shopForTest, SYNC, type Shop } from '../pipeline/shop.js';
import { build, startWorkerProcess, type WorkerProcess } from '../pipeline/worker-process.js';

beforeAll(build);

/** Chance decides which worker takes a task: in each run about half of some fifteen tasks go to the wrong one first. */
const RUNS = inCampaign(2, 5);

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

  for (let i = 0; i < RUNS; i++) expect((await shop.run({ mode: 'full' })).outcome).toBe('complete');
});

it('leaves the runs of a sync whose variable it lacks to workers that have it', async () => {
  const shop = await shopForTest();
  await fill(shop, 3);
  const worker = await startWorkerProcess(shop, { SOURCE_URL: '' });
  onTestFinished(() => void worker.child.kill('SIGKILL'));

  for (let i = 0; i < RUNS; i++) expect((await shop.run({ mode: 'full' })).outcome).toBe('complete');
});

/** Changes two mappings of a sync folder so that the platform's records tell by which version a run went. */
function changeFiles(folder: string): void {
  for (const [mapping, from, to] of [
    ['customers', 'name: name', 'name: { constant: changed }'],
    ['orders', 'total: total', 'total: { constant: 1 }'],
  ] as const) {
    const file = join(folder, SYNC, `${mapping}.mapping.yaml`);
    writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
  }
}

const BEFORE = { name: 'Customer 3', total: 3.5 };
const CHANGED = { name: 'changed', total: 1 };

/** What the platform has of the third customer and its order. */
const delivered = async (shop: Shop) => ({
  name: (await shop.stored('customer', '3'))?.['name'],
  total: (await shop.stored('order', 'o3'))?.['total'],
});

/** Does something when the first batch of the next run comes in; that batch goes through. */
function atFirstUpload(shop: Shop, act: () => void): void {
  let acted = false;
  shop.proxy.fail(({ upload }) => {
    if (upload && !acted) {
      acted = true;
      act();
    }
    return undefined;
  });
}

it('goes by one version of the files for all of a run, whichever worker takes its work', async () => {
  const shop = await shopForTest();
  await fill(shop, 3);
  const folder = folderForTest();
  cpSync(join(shop.folder, SYNC), join(folder, SYNC), { recursive: true });
  changeFiles(folder);
  await workerWith(shop, folder);
  const { spec } = await shop.parts.loadSync(SYNC);

  for (let i = 0; i < 4; i++) {
    const { run } = await shop.run({ mode: 'full' });
    const { mapping_version: version } = await (await shop.parts.ledger()).runs.get(run);
    expect(await delivered(shop)).toEqual(version === spec.version ? BEFORE : CHANGED);
  }
});

it('goes on with the files that a run began with when they are changed, and begins the next run with the new ones', async () => {
  const shop = await shopForTest();
  await fill(shop, 3);
  atFirstUpload(shop, () => changeFiles(shop.folder));

  expect((await shop.run({ mode: 'full' })).outcome).toBe('complete');
  expect(await delivered(shop)).toEqual(BEFORE);

  expect((await shop.run({ mode: 'full' })).outcome).toBe('complete');
  expect(await delivered(shop)).toEqual(CHANGED);
});

it.each([
  ['a file is broken', (shop: Shop) => shop.write('orders.mapping.yaml', 'schema: [')],
  ['the sync is removed', (shop: Shop) => rmSync(join(shop.folder, SYNC), { recursive: true })],
])('completes a run in whose middle %s', async (_, act) => {
  const shop = await shopForTest();
  await fill(shop, 3);
  atFirstUpload(shop, () => act(shop));

  expect((await shop.run({ mode: 'full' })).outcome).toBe('complete');

  expect(await delivered(shop)).toEqual(BEFORE);
  expect((await failureOf(await shop.start('sync', { sync: SYNC }))).type).toBe('config_invalid');
});

it('takes over a run of a sync that it lacks', async () => {
  const shop = await openShop();
  onTestFinished(() => shop.close());
  await fill(shop, 3);
  const first = await workerWith(shop, shop.folder);
  // Nothing comes through until the first worker is dead.
  shop.proxy.fail(({ upload }) => (upload ? { forward: false, answer: 'hang' } : undefined));
  const run = await shop.start('sync', { sync: SYNC, mode: 'full' });
  await eventually('the first worker sends', () => Promise.resolve(shop.proxy.uploads() > 0));
  first.child.kill('SIGKILL');
  await first.ended;
  shop.proxy.fail(undefined);
  const folder = folderForTest();
  cpSync(join(shop.folder, SYNC), join(folder, 'another'), { recursive: true });
  await workerWith(shop, folder);

  expect((await reportOf(run)).outcome).toBe('complete');
  expect(await delivered(shop)).toEqual(BEFORE);
});

it('runs a sync that was added after it had started', async () => {
  const shop = await shopForTest();
  await fill(shop, 3);
  expect((await shop.run({ mode: 'full' })).outcome).toBe('complete');
  cpSync(join(shop.folder, SYNC), join(shop.folder, 'another'), { recursive: true });

  expect((await reportOf(await shop.start('sync', { sync: 'another' }))).outcome).toBe('complete');
});

it('leaves a run to workers that have the values of its variables', async () => {
  const shop = await openShop({ env: { BRAND: 'Acme' } });
  onTestFinished(() => shop.close());
  const file = join(shop.folder, SYNC, 'customers.mapping.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace('name: name', "name: { constant: '${env:BRAND}' }"));
  const { spec, files } = await shop.parts.loadSync(SYNC);
  const { id } = await (
    await shop.parts.ledger()
  ).runs.begin({
    sync: SYNC,
    kind: 'sync',
    mode: 'full',
    input: { sync: SYNC },
    mappingVersion: spec.version,
    files: keptFiles(files),
    workflowId: 'w',
    firstExecutionRunId: 'e',
    start: { trigger: 'other', by: null },
  });
  const another = compose({ ...shop.env, BRAND: 'Other' });
  onTestFinished(() => another.close());

  expect((await shop.parts.openSync(SYNC, id)).spec.version).toBe(spec.version);
  const error = await errorOf(another.openSync(SYNC, id));
  expect(error).toMatchObject({ code: 'config_invalid', details: { onAnotherWorker: true } });
  expect(error.message).toBe(`a variable of shop has another value here than where run ${id} began: one of BRAND`);
});

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
});

it('fails a run whose sync no worker has, and names the worker that tried last', async () => {
  const shop = await shopForTest();

  const { type, message } = await failureOf(await shop.start('sync', { sync: 'shopp' }));

  expect(type).toBe('config_invalid');
  expect(message).toContain('shopp error sync_missing there is no such sync. Syncs: shop');
  expect(message).toMatch(/\(worker \d+@\S+, attempt 30 on whichever worker was free\)$/);
});
