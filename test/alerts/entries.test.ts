/**
 * Each entry of docs/something-is-wrong.md: its problem or alert is caused, its commands under Diagnose show it, and those under
 * Fix end it. The commands are those of the page, executed as they stand there.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest';
import { runInProcess } from '../cli/in-process.js';
import { diagnose, entryOf, execute, headingsUnder, lineLike } from '../docs/runbook.js';
import { isHere } from '../here.js';
import { RULES, startPrometheus, type PrometheusServer } from '../observability/prometheus-server.js';
import { end, startMeasuredWorker, type MeasuredWorker } from '../observability/scrape.js';
import { startTcpProxy } from '../observability/tcp-proxy.js';
import { eventually, fill, openShop, SYNC, type Shop } from '../pipeline/shop.js';
import { filesOf } from '../pipeline/shop-files.js';
import { build } from '../pipeline/worker-process.js';
import { startSlotServer, type SlotServer } from '../source/slot-server.js';
import { createNamespace } from '../temporal-namespace.js';
import { PROOFS, type Entries, type Follow } from './entry-proofs.js';
import { FAULTS } from './faults-of-the-week.js';

it('each has a proof, here or in the bad week', () => {
  const proven = [...[...Object.values(PROOFS), ...FAULTS].flatMap(({ shows }) => Object.keys(shows))];
  const headings = [...headingsUnder('Problems that status names'), ...headingsUnder('Alerts of Prometheus')];
  expect([...new Set(proven)].sort()).toEqual(headings.sort());
});

/** The shipped rules with other times: an alert fires at once, and what counts over minutes counts over 15 seconds. */
const hurried = (rules: string): string => rules.replace(/for: \w+/g, 'for: 0s').replace(/\[\w+\]/g, '[15s]');

const SYNC_YAML = `${filesOf({ upload: { waitForPending: '1s' } })['sync.yaml']!}
schedules: [{ name: nightly, cron: '0 0 1 1 *' }]
limits: { success: 2h, lag: 2h, deadLetters: 5 }
`;

describe.runIf(isHere('Prometheus'))('is caused, shown and ended:', () => {
  const folder = mkdtempSync(join(tmpdir(), 'entries-'));
  let server: SlotServer;
  let shop: Shop;
  let env: Readonly<Record<string, string>>;
  let prometheus: PrometheusServer;
  let worker: MeasuredWorker;
  let entries: Entries;

  beforeAll(async () => {
    await build();
    const files = {
      'sync.yaml': SYNC_YAML,
      'customers.mapping.yaml': filesOf({})['customers.mapping.yaml']!.replace(
        'fields:',
        'deletes: { action: { set: { status: gone } }, hold: { records: 1, percent: 1 } }\nfields:',
      ),
    };
    server = await startSlotServer();
    shop = await openShop({
      sourceServer: server.url('postgres'),
      files,
      wait: '3600s',
      // The rules look at task queues whose names begin like this.
      taskQueue: `partner-sync-${randomUUID()}`,
      env: { TEMPORAL_NAMESPACE: await createNamespace() },
    });
    await fill(shop, 40);
    const [source, ledger] = [await wayTo(shop.source.url), await wayTo(shop.state.url)];
    env = { ...shop.env, SOURCE_URL: source.url, PARTNER_SYNC_STATE_URL: ledger.url };
    worker = await startMeasuredWorker(shop, env, true);
    const rules = join(folder, 'alerts.yml');
    writeFileSync(rules, hurried(readFileSync(RULES, 'utf8')));
    prometheus = await startPrometheus([worker.url, worker.temporalUrl], { rules });
    entries = {
      shop,
      env,
      source: source.way,
      ledger: ledger.way,
      endWorker: () => end(worker),
      declare: (more) => shop.write('sync.yaml', SYNC_YAML + more),
    };
    for (const args of [['run'], ['schedules', 'apply']]) {
      const { code, stderr } = await runInProcess([...args, SYNC], env);
      expect(code, stderr).toBe(0);
    }
  });
  afterAll(async () => {
    await prometheus.stop();
    await end(worker);
    for (const way of [entries.source, entries.ledger]) way.close();
    await shop.close();
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  /** A way to a server that a test can close, and the address that leads over it. */
  async function wayTo(address: string) {
    const url = new URL(address);
    const way = await startTcpProxy(`${url.hostname}:${url.port || '5432'}`, true);
    return { way, url: Object.assign(url, { host: way.address }).href };
  }

  /** The headings of what is wrong now. */
  async function wrong(): Promise<string[]> {
    const { stdout } = await runInProcess(['status', SYNC, '--json'], shop.env);
    const { healths } = JSON.parse(stdout) as { healths: { problems: { trigger: string }[] }[] };
    const alerts = await prometheus.query('ALERTS{alertstate="firing"}');
    return [
      ...healths.flatMap(({ problems }) => problems.map(({ trigger }) => trigger)),
      ...alerts.map(({ metric }) => metric['alertname']!),
    ];
  }

  const until = (what: string, isSo: (now: readonly string[]) => boolean) =>
    eventually(what, async () => isSo(await wrong()), 90, 500);

  it.each(Object.entries(PROOFS))('%s', async (_, { shows, values, cause, fix }) => {
    onTestFailed(() => console.error(worker.output().slice(-5000)));
    const headings = Object.keys(shows);
    const caused = await cause(entries);
    const [latest] = await shop.state.query<{ run: string }>('SELECT max(id)::text AS run FROM partner_sync.runs');
    const found = { sync: SYNC, ...latest, ...values, ...caused };
    await until(`${headings.join(' and ')}: shown`, (now) => headings.every((heading) => now.includes(heading)));
    await diagnose(shows, found, env, 'no');
    const follow: Follow = async (named, pattern, answer) => {
      const [line, ...others] = new Set(named.map((heading) => lineLike(entryOf(heading).fix, pattern)));
      expect(others, 'the entries have the same line').toEqual([]);
      if (line === 'worker')
        return void (worker = await startMeasuredWorker(shop, { ...env, ...portsOf(worker) }, true));
      const { code, stdout, stderr } = await execute(line!, found, env, answer);
      expect(code, stdout + stderr).toBe(0);
    };
    await fix(entries, follow);
    await until(`${headings.join(' and ')}: over`, (now) => headings.every((heading) => !now.includes(heading)));
  });

  /** For a worker where Prometheus looks for this one. */
  const portsOf = ({ url, temporalUrl }: MeasuredWorker): Record<string, string> => ({
    PARTNER_SYNC_METRICS_PORT: new URL(url).port,
    PARTNER_SYNC_TEMPORAL_METRICS_PORT: new URL(temporalUrl).port,
  });
});
