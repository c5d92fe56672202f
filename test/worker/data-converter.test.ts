/** A payload codec of the operator's own: the history is not readable without it, and every command works with it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { connectTemporal } from '../../src/worker/temporal-connection.js';
import { dataConverterOf } from '../../src/worker/data-converter.js';
import { partnerSync } from '../cli/command-line.js';
import { eventually, failureOf, fill, openShop, SYNC } from '../pipeline/shop.js';
import { build, startWorkerProcess } from '../pipeline/worker-process.js';

const CODEC = {
  PARTNER_SYNC_DATA_CONVERTER: fileURLToPath(new URL('codecs/aes-gcm.mjs', import.meta.url)),
  CODEC_KEY: '0123456789abcdef'.repeat(4),
};

describe('with a codec', () => {
  beforeAll(build);

  it('runs work from the command line, and their histories contain no text of their inputs and results', async () => {
    const shop = await openShop();
    onTestFinished(() => shop.close());
    await fill(shop, 4);
    await shop.source.query(`INSERT INTO shop.customers (id, name, status) VALUES (47110815, 'Canary', 'A')`);
    const file = readFileSync(join(shop.folder, SYNC, 'sync.yaml'), 'utf8');
    shop.write('sync.yaml', `${file}schedules: [{ name: nightly, every: 1d, mode: full }]\n`);
    const worker = await startWorkerProcess(shop, CODEC);
    onTestFinished(() => void worker.child.kill('SIGKILL'));
    const command = (...args: string[]) => partnerSync(args, { ...shop.env, ...CODEC });

    const backfill = await command('backfill', SYNC, '--mapping', 'customers', '--external-id', '47110815', '--json');
    expect(backfill).toMatchObject({ code: 0 });
    const run = await command('run', SYNC, '--json');
    expect(run).toMatchObject({ code: 0 });
    const { schedules } = (await command('schedules', 'apply', SYNC, '--json')).json<{ schedules: [{ id: string }] }>();
    const [{ id: scheduleId }] = schedules;
    onTestFinished(() => shop.client.schedule.getHandle(scheduleId).delete());
    expect(await command('schedules', 'trigger', SYNC, 'nightly')).toMatchObject({ code: 0 });
    const temporal = await connectWith(shop.env);
    onTestFinished(() => temporal.close());
    const { client } = temporal;
    const ended = await eventually('the schedule started a run, and all have ended', async () => {
      const found = [];
      // Not those of the watch, which comes with the schedules and starts each minute.
      const query = `TaskQueue = '${shop.taskQueue}' AND WorkflowType IN ('sync', 'backfill')`;
      for await (const run of client.workflow.list({ query })) found.push(run);
      return found.length === 3 && found.every(({ status }) => status.name === 'COMPLETED') && found;
    });
    expect(await command('schedules', 'list', SYNC)).toMatchObject({ code: 0 });
    expect(await command('doctor', SYNC)).toMatchObject({ code: 0 });

    const { namespace } = client.options;
    const histories = ended.map(async ({ workflowId }) => client.workflow.getHandle(workflowId).fetchHistory());
    const schedule = client.workflowService.describeSchedule({ namespace, scheduleId });
    for (const stored of (await Promise.all([...histories, schedule])).map((from) => payloadsIn(from))) {
      expect(stored.length).toBeGreaterThan(0);
      expect(stored.filter(({ encoding }) => encoding !== 'binary/encrypted')).toEqual([]);
      expect(stored.map(({ data }) => data).join('')).not.toMatch(/47110815|accepted|customers|nightly/);
    }
  });

  it('status names the sync of a run that only Temporal knows', async () => {
    const shop = await openShop();
    onTestFinished(() => shop.close());
    const worker = await startWorkerProcess(shop, CODEC);
    onTestFinished(() => void worker.child.kill('SIGKILL'));
    const temporal = await connectWith(shop.env);
    onTestFinished(() => temporal.close());
    const { client } = temporal;
    const handle = await client.workflow.start('sync', {
      taskQueue: shop.taskQueue,
      workflowId: `unknown-mode-${shop.taskQueue}`,
      args: [{ sync: SYNC, mode: 'sideways' }],
    });
    expect(await failureOf(handle)).toMatchObject({ type: 'input_invalid' });

    const { stdout } = await partnerSync(['status', '--json'], { ...shop.env, ...CODEC });
    expect(stdout).toContain(`"sync":"${SYNC}"`);
  });
});

/** Every payload anywhere in these events, with its encoding. */
function payloadsIn(at: unknown): { encoding: string; data: string }[] {
  if (typeof at !== 'object' || at === null || ArrayBuffer.isView(at)) return [];
  const { metadata, data } = at as { metadata?: Record<string, Uint8Array>; data?: Uint8Array };
  const encoding = metadata?.['encoding'];
  // Search attributes are not for codecs: the server reads them.
  if (encoding !== undefined)
    return [{ encoding: Buffer.from(encoding).toString(), data: Buffer.from(data ?? []).toString('latin1') }];
  return Object.entries(at).flatMap(([key, value]) => (key === 'searchAttributes' ? [] : payloadsIn(value)));
}

/** A client with the codec, as another program of the operator's may have one. */
function connectWith(env: Readonly<Record<string, string>>): ReturnType<typeof connectTemporal> {
  // The module reads it from the process that it is loaded into.
  vi.stubEnv('CODEC_KEY', CODEC.CODEC_KEY);
  onTestFinished(() => void vi.unstubAllEnvs());
  return connectTemporal({ ...env, ...CODEC });
}

describe('a module that is no codec', () => {
  const module = (text: string): string => {
    const folder = mkdtempSync(join(tmpdir(), 'codec-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, 'codec.mjs'), text);
    return join(folder, 'codec.mjs');
  };

  it.each([
    ['throw new Error("no key")', 'cannot be loaded (no key)'],
    ['export const converter = {}', 'must export "dataConverter"'],
    ['export const dataConverter = { payloadCodecs: [{ encode() {} }] }', 'with the methods encode and decode'],
    ['export const dataConverter = { payloadCodecs: [] }', 'must have "payloadCodecs"'],
    ['export const dataConverter = { payloadConverterPath: "x" }', 'it has "payloadConverterPath"'],
  ])('%s is refused: %s', async (text, why) => {
    const path = module(text);
    await expect(dataConverterOf({ PARTNER_SYNC_DATA_CONVERTER: path })).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining(why) as string,
    });
  });

  it('and one that does not exist is refused too', async () => {
    await expect(dataConverterOf({ PARTNER_SYNC_DATA_CONVERTER: './nowhere.mjs' })).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('PARTNER_SYNC_DATA_CONVERTER: ./nowhere.mjs cannot be loaded') as string,
    });
  });
});
