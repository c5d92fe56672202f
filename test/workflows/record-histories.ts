/**
 * Records the histories of the present version that are not there: `npm run record-histories`. Runs as tests do, but only for
 * this command.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { findTemporal } from '../../src/embedded/temporal-cli.js';
import { startTemporal, type EmbeddedTemporal } from '../../src/embedded/temporal-server.js';
import { shopForTest, type ShopSettings } from '../pipeline/shop.js';
import { endOf, executionsOf, keep, recordedOf, stepsOf, toKeep, VERSION, versions } from './histories.js';
import { SHAPES } from './shapes.js';

/** Events after which the server suggests a new execution: more than a run has before its first time slice has ended. */
const LONG = 45;

const known = versions().includes(VERSION) ? recordedOf(VERSION).map(({ shape }) => shape) : [];
const missing = Object.entries(SHAPES).filter(([name]) => !known.includes(name));

let folder: string;
let early: EmbeddedTemporal;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'partner-sync-histories-'));
  const { path } = await findTemporal({ log: () => undefined });
  const dynamicConfig = { 'limit.historyCount.suggestContinueAsNew': LONG };
  early = await startTemporal({ path, folder, log: () => undefined, history: 'memory', dynamicConfig });
});
afterAll(async () => {
  await early.stop();
  rmSync(folder, { recursive: true });
});

const serversOf = (continues: boolean): ShopSettings =>
  continues
    ? { servers: { source: inject('postgresUrl'), state: inject('postgresUrl'), temporal: early.address } }
    : {};

it.each(missing)(
  'records %s',
  async (shape, { settings, record, ends, does = [], lacks = [], continues = false, beginsAgain = false }) => {
    const shop = await shopForTest({ ...settings, ...serversOf(continues) });
    const handle = await record(shop);
    await handle.result().catch(() => undefined);
    const executions = await executionsOf(handle);

    const steps = executions.flatMap((history) => [...stepsOf(history)]);
    expect(endOf(executions.at(-1)!)).toBe(ends);
    expect(steps).toEqual(expect.arrayContaining([...does]));
    expect(lacks.filter((step) => steps.includes(step))).toEqual([]);
    expect(executions.length > 1).toBe(continues || beginsAgain);
    executions.forEach((history, no) => keep({ version: VERSION, shape, execution: no + 1, json: toKeep(history) }));
  },
);
