/** The shipped rules and the dashboard, by a real Prometheus that scrapes a real worker. */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { isHere } from '../here.js';
import { eventually, fill, openShop, reportOf, type Shop } from '../pipeline/shop.js';
import { build } from '../pipeline/worker-process.js';
import { promtool, RULES, startPrometheus, type PrometheusServer } from './prometheus-server.js';
import { end, startMeasuredWorker, type MeasuredWorker } from './scrape.js';

interface Dashboard {
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly query: string }[];
  };
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
}

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const DASHBOARD = JSON.parse(readFileSync(file('../../deploy/grafana/partner-sync.json'), 'utf8')) as Dashboard;
const CASES = file('alerts.promtool.yml');

/** As Grafana fills in its variables, with a range that a short test has data for. */
const filledIn = (expression: string): string =>
  expression.replaceAll('$__rate_interval', '10m').replaceAll('$sync', '.*');

/** A slot, as the ledger has it after somebody has looked: the shop's own server has none. */
async function fed({ state }: Shop): Promise<void> {
  await state.query(`INSERT INTO partner_sync.change_feeds (sync, name, read_at, seen_at, kept_bytes, unread_bytes, max_bytes)
    VALUES ('shop', 'shop', now(), now(), 60, 20, 100)`);
  await state.query(`INSERT INTO partner_sync.fed_mappings (mapping_id, feed, reads)
    SELECT id, 'shop', '' FROM partner_sync.mappings`);
}

describe.runIf(isHere('Prometheus'))('with Prometheus', () => {
  it('has rules that it accepts', () => {
    const { status, output } = promtool('check', 'rules', RULES);
    expect(status, output).toBe(0);
  });

  it('has a case for each alert in which it fires, and clears', () => {
    const rules = parse(readFileSync(RULES, 'utf8')) as { groups: { rules: { alert: string }[] }[] };
    const cases = parse(readFileSync(CASES, 'utf8')) as {
      tests: { alert_rule_test: { alertname: string; exp_alerts?: unknown[] }[] }[];
    };
    const asked = cases.tests.flatMap((each) => each.alert_rule_test);
    const named = (fires: boolean): string[] => [
      ...new Set(asked.filter((a) => (a.exp_alerts ?? []).length > 0 === fires).map((a) => a.alertname)),
    ];
    const alerts = rules.groups.flatMap((group) => group.rules.map(({ alert }) => alert)).sort();
    expect(named(true).sort()).toEqual(alerts);
    expect(named(false).sort()).toEqual(alerts);
  });

  it('has alerts that fire and clear when they should', () => {
    const { status, output } = promtool('test', 'rules', CASES);
    expect(status, output).toBe(0);
  });

  describe('that scrapes a worker', () => {
    let shop: Shop;
    let worker: MeasuredWorker;
    let prometheus: PrometheusServer;
    let sending: NodeJS.Timeout;

    beforeAll(async () => {
      await build();
      shop = await openShop({
        wait: '3600s',
        // A POST may take half the delay: on a busy machine it must not be given up.
        upload: { waitForPending: '0s', batchSize: 5, inDoubtDelay: '20s' },
        failOn: 'never',
        limits: '{ success: 2h }',
      });
      await fill(shop, 40);
      worker = await startMeasuredWorker(shop, {}, true);
      prometheus = await startPrometheus([worker.url, worker.temporalUrl]);
      const run = async (): Promise<string> => (await reportOf(await shop.start('sync', { sync: 'shop' }))).outcome;
      await eventually('Prometheus has the counters at zero', async () => {
        const found = await prometheus.query('partner_sync_rows_total == 0');
        return found.length > 0;
      });
      expect(await run()).toBe('complete');
      // Dead letters, a record that waits, and a request that is repeated.
      await shop.source.query(`UPDATE shop.customers SET email = 'no address', updated_at = now() WHERE id <= 20`);
      await shop.source.query(`UPDATE shop.orders SET customer_id = 999, updated_at = now() WHERE no = 'o30'`);
      let uploads = 0;
      shop.proxy.fail(({ upload }) =>
        upload && ++uploads === 1 ? { forward: false, answer: { status: 429, body: '{}' } } : undefined,
      );
      expect(await run()).toBe('incomplete');
      await eventually('Prometheus has the end of the second run', async () => {
        const found = await prometheus.query('partner_sync_last_run{outcome="incomplete"} == 1');
        return found.length === 1;
      });
      // A schedule that is paused, and a process that waits for a Retry-After.
      const { fleet, schedules } = await shop.parts.ledger();
      await schedules.record([{ id: 'partner-sync/shop/nightly', paused: true, note: null, skipped: 0, missed: 0 }]);
      await fed(shop);
      const [process, account] = [randomUUID(), 'https://another.example.com/'];
      await fleet.setRetryAfter(account, 3_600_000);
      const heartbeat = () => fleet.heartbeat(process, account, new Map([['shop', 0]]));
      await heartbeat();
      sending = setInterval(() => void heartbeat().catch(() => undefined), 1000);
    });
    afterAll(async () => {
      clearInterval(sending);
      await prometheus.stop();
      await end(worker);
      await shop.close();
    });

    it.each(DASHBOARD.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr])))(
      'finds a series for the panel "%s": %s',
      async (_, expression) => {
        const series = await eventually(`there is a series for ${expression}`, async () => {
          const found = await prometheus.query(filledIn(expression));
          return found.length > 0 && found;
        });
        for (const { metric } of series) expect(Object.keys(metric).join(' ')).not.toMatch(/tenant|run|batch_id/);
      },
    );

    it.each(DASHBOARD.templating.list.filter(({ type }) => type === 'query').map(({ name, query }) => [name, query]))(
      'finds the values of the variable "%s": %s',
      async (_, query) => {
        const [, series, label] = /^label_values\((.+), (\w+)\)$/.exec(query)!;
        // As Grafana asks for them.
        const found = await prometheus.ask<string[]>(`label/${label}/values?match[]=${encodeURIComponent(series!)}`);
        expect(found).toEqual(['shop']);
      },
    );

    it('evaluates all rules without an error, and those fire that should', async () => {
      type Rule = { readonly name: string; readonly health: string; readonly state: string };
      const rules = await eventually('all rules were evaluated, and two fire', async () => {
        const { groups } = await prometheus.ask<{ groups: { rules: Rule[] }[] }>('rules');
        const found = groups.flatMap((group) => group.rules);
        const areFiring = found.filter(({ state }) => state === 'firing').length >= 2;
        return found.every(({ health }) => health !== 'unknown') && areFiring && found;
      });
      expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);
      expect(rules.filter(({ state }) => state !== 'inactive').map(({ name }) => name)).toEqual([
        'PartnerSyncManyDeadLetters',
        'PartnerSyncRetrying',
      ]);
    });

    it('has text that promtool calls well-formed', async () => {
      const text = await (await fetch(`${worker.url}/metrics`)).text();
      expect(text).toContain('# TYPE partner_sync_rows_total counter');
      const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
      expect(status, stdout + stderr).toBe(0);
    });
  });
});
