/** docs/monitoring.md lists the metrics that a worker serves; the shipped alerts and dashboard name no others. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LEDGER_METRICS, METRIC_PREFIX, WORKER_METRICS, type Metric } from '../../src/domain/monitoring/metrics.js';
import { EXPORTED_ATTRIBUTES } from '../../src/observability/tracing/span-attributes.js';
import { installable } from '../../src/observability/tracing/trace-packages.js';
import { readPage, ROOT, sectionOf, tableIn } from './pages.js';

const page = readPage('docs/monitoring.md');
const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const TABLES: Readonly<Record<string, Readonly<Record<string, Metric>>>> = {
  'What each worker measures': WORKER_METRICS,
  'What is read from the ledger': LEDGER_METRICS,
};

describe.each(Object.entries(TABLES))('the metrics: %s', (heading, metrics) => {
  it('are all in the table, with type, labels and meaning', () => {
    const rows = Object.entries(metrics).map(([name, { type, labels, meaning }]) => [
      `\`${METRIC_PREFIX}${name}\``,
      type,
      labels.map((label) => `\`${label}\``).join(', '),
      meaning,
    ]);
    expect(tableIn(sectionOf(page, heading))).toEqual(rows);
  });

  it('have names of the conventions: counters end with _total, durations and times with _seconds', () => {
    for (const [name, { type, meaning }] of Object.entries(metrics)) {
      expect(name.endsWith('_total'), name).toBe(type === 'counter');
      expect(/duration|timestamp|limit_seconds/.test(name), name).toBe(name.endsWith('_seconds'));
      expect(meaning, name).not.toMatch(/\.$/);
    }
  });
});

describe('the alert rules', () => {
  it('and the dashboard name only metrics that exist', () => {
    const known = new Set(Object.keys({ ...WORKER_METRICS, ...LEDGER_METRICS }));
    const both = text('deploy/prometheus/alerts.yml') + text('deploy/grafana/partner-sync.json');
    const named = [...both.matchAll(/partner_sync_(\w+)/g)].map(([, name]) =>
      name!.replace(/(?<=_seconds)_(bucket|sum|count)$/, ''),
    );
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });
});

describe('the traces', () => {
  const section = sectionOf(page, 'Traces');

  it('need the packages that the page installs', () => {
    expect(section).toContain(`npm install ${installable('http/protobuf').join(' ')}\n`);
  });

  it('have the attributes that the page explains', () => {
    const table = section.slice(section.indexOf('| Attribute'));
    const explained = table.split('\n').flatMap((row) => {
      const [, names = ''] = /^\| (`.*?) +\|/.exec(row) ?? [];
      return [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
    });
    expect(explained.sort()).toEqual([...EXPORTED_ATTRIBUTES].sort());
  });
});
