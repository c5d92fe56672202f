/**
 * Everything around a run fails at random moments: workers die or freeze, both databases and Temporal go down hard.
 * On each commit every kind of fault comes once, in a campaign four times a round; see ../campaign.ts.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { startPostgres, type EmbeddedPostgres } from '../../src/embedded/postgres-server.js';
import { findTemporal } from '../../src/embedded/temporal-cli.js';
import { startTemporal } from '../../src/embedded/temporal-server.js';
import { inCampaign, seeds } from '../campaign.js';
import { seeded } from '../seeded.js';
import { eventually, fill, NO_OPEN_ENDS, openEnds, openShop, type Shop } from './shop.js';
import { noteWhatComes, twiceAtOnce } from './twice-at-once.js';
import { build, startWorkerProcess, type WorkerProcess } from './worker-process.js';

const MOMENTS = inCampaign(5, 20);
const CUSTOMERS = inCampaign(800, 1500);

beforeAll(build);

it.each(seeds())(
  `loses and duplicates nothing through ${MOMENTS} faults at random moments (TEST_SEED=%i)`,
  async (seed) => {
    const random = seeded(seed);
    const servers = await startServers();
    const shop = await openShop({
      servers: servers.urls(),
      // Longer than a batch takes on a busy machine: nothing else can tell that a lost batch is over.
      upload: { batchSize: 50, requestsAtOnce: 4, inDoubtDelay: '8s' },
      sandbox: { processingDelay: 100 },
    });
    onTestFinished(() => shop.close());
    await noteWhatComes(shop);
    await fill(shop, CUSTOMERS);
    const workers = [await startWorkerProcess(shop), await startWorkerProcess(shop)];
    onTestFinished(() => workers.forEach(({ child }) => child.kill('SIGKILL')));

    const faults: Record<string, () => Promise<void>> = {
      'a worker is killed': () => kill(shop, workers, random(2)),
      'a worker freezes': () => freeze(workers[random(2)]!, 1000 + random(12_000)),
      'the source goes down': () => servers.crash('source'),
      'the ledger goes down': () => servers.crash('state'),
      'Temporal goes down': () => servers.restartTemporal(),
    };
    const names = Object.keys(faults);
    for (let moment = 0; moment < MOMENTS; moment++) {
      await keepRunning(shop, moment);
      await sleep(random(4000));
      // Each kind as often as any other, in an order of chance.
      const name = names.splice(random(names.length), 1)[0]!;
      if (names.length === 0) names.push(...Object.keys(faults));
      console.log(`moment ${moment}: ${name}`);
      await faults[name]!();
    }
    await running(shop, (status) => status !== 'RUNNING');
    const last = await keepRunning(shop, MOMENTS);
    await running(shop, (status) => status !== 'RUNNING');

    expect(await last.result()).toMatchObject({ outcome: 'complete' });
    expect(await shop.differences()).toBe(0);
    expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
    expect(await twiceAtOnce(shop)).toEqual([]);
  },
);

/** Changes every row and starts a run over them, unless one is still on its way. */
async function keepRunning(shop: Shop, moment: number) {
  const handle = () => shop.client.workflow.getHandle('chaos');
  const status = moment === 0 ? 'COMPLETED' : await eventually('Temporal answers', () => statusOf(shop), 120);
  if (status === 'RUNNING') return handle();
  await eventually('the source answers', () => touched(shop, moment), 60);
  return eventually('the run starts', () => shop.start('sync', { sync: 'shop' }, 'chaos').catch(() => undefined), 60);
}

const statusOf = (shop: Shop): Promise<string | undefined> =>
  shop.client.workflow
    .getHandle('chaos')
    .describe()
    .then(
      ({ status }) => status.name,
      () => undefined,
    );

const running = (shop: Shop, is: (status: string) => boolean) =>
  eventually('the run ends', async () => is((await statusOf(shop)) ?? 'RUNNING'), 600);

async function touched(shop: Shop, moment: number): Promise<boolean> {
  try {
    await shop.source.query(`UPDATE shop.customers SET name = $1 || id, updated_at = clock_timestamp()`, [
      `at ${moment} `,
    ]);
    await shop.source.query(`UPDATE shop.orders SET total = total + 1, updated_at = clock_timestamp()`);
    return true;
  } catch {
    return false;
  }
}

async function kill(shop: Shop, workers: WorkerProcess[], which: number): Promise<void> {
  workers[which]!.child.kill('SIGKILL');
  await workers[which]!.ended;
  workers[which] = await startWorkerProcess(shop);
}

async function freeze({ child }: WorkerProcess, ms: number): Promise<void> {
  child.kill('SIGSTOP');
  await sleep(ms);
  child.kill('SIGCONT');
}

/** Two PostgreSQL servers and a Temporal server of the test's own, on ports that they keep. */
async function startServers() {
  const folder = mkdtempSync(join(tmpdir(), 'partner-sync-chaos-'));
  chmodSync(folder, 0o755);
  const log = (): void => undefined;
  const postgres = (name: string) => startPostgres({ folder: join(folder, name), log });
  const databases: Record<'source' | 'state', EmbeddedPostgres> = {
    source: await postgres('source'),
    state: await postgres('state'),
  };
  const { path } = await findTemporal({ log });
  let temporal = await startTemporal({ path, folder: join(folder, 'temporal'), log });
  onTestFinished(async () => {
    await Promise.all([databases.source.stop(), databases.state.stop(), temporal.stop()]);
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    urls: () => ({
      source: databases.source.url('postgres'),
      state: databases.state.url('postgres'),
      temporal: temporal.address,
    }),
    /** `pg_ctl stop -m immediate`, two seconds, and a start that recovers. */
    async crash(name: 'source' | 'state') {
      const { pid } = databases[name];
      process.kill(pid, 'SIGQUIT');
      await eventually(`${name} is down`, () => Promise.resolve(!isAlive(pid)));
      await sleep(2000);
      databases[name] = await postgres(name);
    },
    async restartTemporal() {
      await temporal.stop();
      temporal = await startTemporal({ path, folder: join(folder, 'temporal'), log });
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
