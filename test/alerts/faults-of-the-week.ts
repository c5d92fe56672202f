/** What goes wrong in a bad week, as data: what tells of it, what the page's commands show, and how it ends. */
import { readFileSync, writeFileSync } from 'node:fs';
import { mintToken } from '../../src/sandbox/token.js';
import type { HealthTrigger } from '../../src/domain/monitoring/sync-health.js';
import type { TcpProxy } from '../observability/tcp-proxy.js';
import { JWT_SECRET, type Shop } from '../pipeline/shop.js';
import type { Shows } from '../docs/runbook.js';

/** What faults change. */
export interface World {
  readonly shop: Shop;
  /** The way to the source of the sync of this name. */
  readonly ways: Readonly<Record<'gone' | 'silent', TcpProxy>>;
  readonly tokenFile: string;
  /** What the platform answers to uploads for a tenant, instead of taking them. */
  readonly refusals: Map<string, number>;
  /** The path of a file of a sync. */
  readonly fileOf: (sync: string, file: string) => string;
  /** The variables of the worker of a sync, and of the commands for it. */
  readonly envOf: (sync: string) => Readonly<Record<string, string>>;
}

export interface Fault {
  /** The sync that it befalls, of which there is one for each fault. It delivers to the tenant of its name. */
  readonly sync: string;
  /** What the notification and `status` call it: a heading of docs/something-is-wrong.md. */
  readonly problem: HealthTrigger;
  /** In the sentence of the notification. */
  readonly what: RegExp;
  /** The shipped rule that fires, another heading of the page; where none does in time, a metric that is 1. */
  readonly alert?: string;
  readonly metric?: string;
  readonly begin: (world: World) => unknown;
  /** Of the problem and, where one fires, of the alert. */
  readonly shows: Shows;
  /** What an operator answers if one of them asks. */
  readonly answer?: string;
  /** What people do outside partner-sync to end it. */
  readonly mend: (world: World) => unknown;
  /** The command line under Fix that follows; none if the page says that the run continues by itself. */
  readonly fix?: RegExp;
}

/** The table of a sync. */
export const tableOf = (sync: string): string => `shop.customers_of_${sync}`;

export const FAULTS: readonly Fault[] = [
  {
    sync: 'expired',
    problem: 'retrying',
    what: /platform_unauthorized/,
    alert: 'PartnerSyncRetrying',
    begin: async ({ tokenFile }) =>
      writeFileSync(tokenFile, await mintToken({ secret: JWT_SECRET, scope: 'platform', expiresIn: -1 })),
    shows: {
      retrying: [/retrying.*platform_unauthorized/s, /FAIL +platform/],
      PartnerSyncRetrying: [/FAIL +platform/],
    },
    mend: ({ tokenFile, shop }) => writeFileSync(tokenFile, shop.token),
  },
  {
    sync: 'gone',
    problem: 'retrying',
    what: /source_unreachable/,
    alert: 'PartnerSyncRetrying',
    begin: ({ ways }) => ways.gone.stop(),
    shows: { retrying: [/retrying.*source_unreachable/s, /FAIL +source/], PartnerSyncRetrying: [/FAIL +source/] },
    mend: ({ ways }) => ways.gone.restore(),
  },
  {
    sync: 'column',
    problem: 'incomplete',
    // What it leaves out is told before the run has ended, or by its end.
    what: /the latest run ended incomplete|a run leaves out customers/,
    metric: 'partner_sync_last_run{sync="column",outcome="incomplete"}',
    begin: ({ shop }) => shop.source.query(`ALTER TABLE ${tableOf('column')} RENAME COLUMN email TO mail`),
    shows: { incomplete: [/the latest run ended incomplete/, /source_changed/, /the column does not exist/] },
    mend: ({ fileOf }) => {
      const file = fileOf('column', 'customers.mapping.yaml');
      writeFileSync(file, readFileSync(file, 'utf8').replace('email: email', 'email: mail'));
    },
    fix: /^run <sync>$/,
  },
  {
    sync: 'throttled',
    problem: 'retrying',
    what: /platform_busy/,
    alert: 'PartnerSyncRetrying',
    begin: ({ refusals }) => refusals.set('throttled', 429),
    shows: { retrying: [/retrying.*platform_busy/s, /platform/], PartnerSyncRetrying: [/platform/] },
    mend: ({ refusals }) => refusals.delete('throttled'),
    fix: /^set-rate/,
  },
  {
    sync: 'broken',
    problem: 'retrying',
    what: /platform_failed/,
    alert: 'PartnerSyncRetrying',
    begin: ({ refusals }) => refusals.set('broken', 500),
    shows: { retrying: [/retrying.*platform_failed/s, /platform/], PartnerSyncRetrying: [/platform/] },
    mend: ({ refusals }) => refusals.delete('broken'),
  },
  {
    sync: 'deleted',
    problem: 'awaiting-approval',
    what: /a run holds 1 mapping until somebody approves; 1 removal plan awaits a decision of a person/,
    alert: 'PartnerSyncOnHold',
    begin: ({ shop }) =>
      shop.source.query(
        `CREATE TABLE shop.backup AS SELECT * FROM ${tableOf('deleted')} WHERE id > 180; DELETE FROM ${tableOf('deleted')} WHERE id > 180`,
      ),
    shows: {
      'awaiting-approval': [/120 records would be removed/, /120/, /./],
      PartnerSyncOnHold: [/120 records would be removed/],
    },
    answer: 'no',
    // It was a mistake: the workflow is cancelled in the Web UI.
    mend: async ({ shop }) => {
      const [run] = await shop.state.query<{ id: string }>(
        `SELECT workflow_id AS id FROM partner_sync.runs WHERE sync = 'deleted' AND ended_at IS NULL`,
      );
      await shop.client.workflow.getHandle(run!.id).cancel();
      await shop.source.query(`INSERT INTO ${tableOf('deleted')} SELECT * FROM shop.backup`);
    },
    fix: /^run <sync> --mode mirror$/,
  },
  {
    sync: 'silent',
    problem: 'retrying',
    what: /source_unreachable/,
    alert: 'PartnerSyncRetrying',
    begin: ({ ways }) => ways.silent.silence(),
    shows: { retrying: [/retrying.*source_unreachable/s, /FAIL +source/], PartnerSyncRetrying: [/FAIL +source/] },
    mend: ({ ways }) => ways.silent.restore(),
  },
];
