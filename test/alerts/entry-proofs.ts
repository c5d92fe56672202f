/**
 * Proofs of the entries of docs/something-is-wrong.md: what causes the problem or alert, what its commands under Diagnose
 * show, and how those under Fix end it. The faults of the bad week prove others.
 */
import { expect } from 'vitest';
import { runInProcess } from '../cli/in-process.js';
import { eventually, failureOf, reportOf, SYNC, type Shop } from '../pipeline/shop.js';
import type { Shows } from '../docs/runbook.js';
import type { TcpProxy } from '../observability/tcp-proxy.js';

export interface Entries {
  readonly shop: Shop;
  /** The variables of the worker and of the commands. */
  readonly env: Readonly<Record<string, string>>;
  /** The ways to the source and to the ledger. */
  readonly source: TcpProxy;
  readonly ledger: TcpProxy;
  readonly endWorker: () => Promise<void>;
  /** Writes sync.yaml with these lines besides the usual ones. */
  readonly declare: (more: string) => void;
}

/** Follows the command line that each of these entries has under Fix; with the answer that an operator gives. */
export type Follow = (headings: readonly string[], line: RegExp, answer?: string) => Promise<void>;

export interface Proof {
  readonly shows: Shows;
  /** What the operator puts in place of `<mapping>` and the like. */
  readonly values?: Readonly<Record<string, string>>;
  readonly cause: (entries: Entries) => Promise<Readonly<Record<string, string>> | void>;
  readonly fix: (entries: Entries, follow: Follow) => Promise<void>;
}

const start = ({ shop }: Entries, input: object = {}) => shop.start('sync', { sync: SYNC, ...input });
const change = ({ shop }: Entries, customers: number, set: string): Promise<unknown> =>
  shop.source.query(`UPDATE shop.customers SET ${set}, updated_at = clock_timestamp() WHERE id <= ${customers}`);
const refuse = ({ shop }: Entries, status: number): void =>
  shop.proxy.fail(() => ({ forward: false, answer: { status, body: '{}' } }));

const FEED = 'changes: { slot: entries, publication: entries, maxWal: 1MiB }\n';

export const PROOFS: Readonly<Record<string, Proof>> = {
  'a run that fails': {
    shows: {
      failing: [/failing.*platform_unauthorized/s, /FAIL +platform/],
      PartnerSyncRunFailed: [/platform_unauthorized/],
    },
    async cause(entries) {
      await change(entries, 1, `name = 'renamed'`);
      refuse(entries, 401);
      expect(await failureOf(await start(entries))).toMatchObject({ type: 'platform_unauthorized' });
    },
    async fix({ shop }, follow) {
      shop.proxy.fail(undefined);
      await follow(['failing', 'PartnerSyncRunFailed'], /^run <sync>$/);
    },
  },
  'a schedule that somebody paused yesterday, and forgot': {
    shows: {
      late: [/nightly +yes .*stocktaking/, /the last success was 25h/, /ok +workers/],
      paused: [/schedules_paused|paused/, /nightly has been paused since/],
      PartnerSyncLate: [/the last success was 25h/, /ok +workers/],
      PartnerSyncSchedulePaused: [/nightly has been paused since .*: stocktaking/],
    },
    async cause({ shop, env }) {
      const pause = ['schedules', 'pause', SYNC, '--reason', 'stocktaking'];
      expect(await runInProcess(pause, env)).toMatchObject({ code: 0 });
      await shop.state.query(`UPDATE partner_sync.schedules SET paused_since = paused_since - interval '25 h'`);
      await shop.state.query(
        `UPDATE partner_sync.runs SET started_at = started_at - interval '25 h', ended_at = ended_at - interval '25 h'`,
      );
    },
    async fix(_, follow) {
      await follow(['late', 'paused', 'PartnerSyncLate', 'PartnerSyncSchedulePaused'], /^schedules resume/);
      await follow(['late'], /^run <sync>$/);
    },
  },
  'an order whose customer does not come': {
    shows: {
      incomplete: [/orders +\d+ +1 /, /INCOMPLETE/, /customer/],
      waiting: [/a record has been waiting for 25h/, /customer/],
      PartnerSyncWaitingLong: [/customer/],
    },
    values: { mapping: 'orders', 'external-id': 'o1' },
    async cause(entries) {
      const { shop } = entries;
      await shop.source.query(
        `UPDATE shop.orders SET customer_id = 999, updated_at = clock_timestamp() WHERE no = 'o1'`,
      );
      expect(await reportOf(await start(entries))).toMatchObject({ outcome: 'incomplete' });
      await shop.state.query(`UPDATE partner_sync.waiting SET since = since - interval '25 h'`);
    },
    async fix({ shop }, follow) {
      await shop.source.query(`INSERT INTO shop.customers (id, name, status) VALUES (999, 'late', 'A')`);
      await follow(['incomplete', 'waiting', 'PartnerSyncWaitingLong'], /^run <sync>$/);
    },
  },
  'a table that is read no more': {
    shows: {
      lagging: [/customers has not been read to the end for 3h/, /ok +workers/],
      PartnerSyncLagging: [/customers has not been read to the end for 3h/, /ok +workers/],
    },
    async cause(entries) {
      await change(entries, 1, `name = 'renamed again'`);
      await entries.shop.state.query(
        `UPDATE partner_sync.mappings SET read_until = read_until - interval '3 h' WHERE name = 'customers'`,
      );
    },
    fix: (_, follow) => follow(['lagging', 'PartnerSyncLagging'], /^run <sync>$/),
  },
  'a slot that no run has read since yesterday': {
    shows: {
      'feed-behind': [/the source keeps .* of its log for the change feed entries \(limit 1.0 MiB/, /ok +workers/],
      PartnerSyncFeedBehind: [/the source keeps .* MiB of its log/, /ok +workers/],
      PartnerSyncFeedNotRead: [/change feed entries: last read to its end 25h/, /ok +workers/],
    },
    async cause(entries) {
      const { shop, env, declare } = entries;
      declare(FEED);
      expect(await runInProcess(['changes', 'install', SYNC, '--apply'], env)).toMatchObject({ code: 0 });
      await reportOf(await start(entries));
      await shop.source.query(`SELECT pg_logical_emit_message(true, 'filler', repeat('x', 2097152))`);
      // The server marks where decoding may begin.
      await shop.source.query('CHECKPOINT');
      await shop.state.query(
        `UPDATE partner_sync.change_feeds SET read_at = read_at - interval '25 h', seen_at = seen_at - interval '25 h'`,
      );
    },
    fix: (_, follow) => follow(['feed-behind', 'PartnerSyncFeedBehind', 'PartnerSyncFeedNotRead'], /^run <sync>$/),
  },
  'a slot that somebody has dropped': {
    shows: {
      'feed-unreadable': [/the change feed entries cannot be read: there is no slot "entries"/, /FAIL +changes/],
      PartnerSyncFeedUnreadable: [/the change feed entries cannot be read/, /FAIL +changes/],
    },
    async cause({ shop }) {
      await shop.source.query(`SELECT pg_drop_replication_slot('entries')`);
      // Whoever has looked at it a moment ago does not look again at once.
      await shop.state.query(`UPDATE partner_sync.change_feeds SET seen_at = seen_at - interval '1 h'`);
    },
    async fix({ env, declare }, follow) {
      const headings = ['feed-unreadable', 'PartnerSyncFeedUnreadable'];
      await follow(headings, /^changes install/);
      await follow(headings, /^run <sync>$/);
      // The other proofs go by the cursor.
      expect(await runInProcess(['changes', 'remove', SYNC, '--apply'], env)).toMatchObject({ code: 0 });
      declare('');
      expect(await runInProcess(['run', SYNC, '--mode', 'full'], env)).toMatchObject({ code: 0 });
    },
  },
  'rows that the mapping refuses': {
    shows: {
      'dead-letters': [/12 dead letters of shop/, /to do/],
      PartnerSyncManyDeadLetters: [/12 dead letters of shop/, /rows_fail.*12 of/s, /./],
    },
    async cause(entries) {
      await change(entries, 12, `status = 'X'`);
      expect(await reportOf(await start(entries))).toMatchObject({ outcome: 'complete_with_dead_letters' });
      const [letter] = await entries.shop.state.query<{ id: string }>(
        'SELECT min(id)::text AS id FROM partner_sync.dead_letters',
      );
      return { id: letter!.id };
    },
    async fix(entries, follow) {
      await change(entries, 12, `status = 'A'`);
      await follow(['dead-letters', 'PartnerSyncManyDeadLetters'], /^dead-letters replay/);
    },
  },
  'rows that somebody has deleted on purpose': {
    shows: {
      'awaiting-approval': [/1 removal plan awaits approval/, /customers/, /20/],
      PartnerSyncRemovalPlanWaits: [/20/],
    },
    async cause(entries) {
      await entries.shop.source.query('DELETE FROM shop.customers WHERE id BETWEEN 20 AND 29');
      expect(await reportOf(await start(entries, { mode: 'mirror' }))).toMatchObject({ outcome: 'incomplete' });
      const [plan] = await entries.shop.state.query<{ id: string }>(
        'SELECT max(id)::text AS id FROM partner_sync.removal_plans',
      );
      return { plan: plan!.id };
    },
    fix: (_, follow) => follow(['awaiting-approval', 'PartnerSyncRemovalPlanWaits'], /--approve <plan>/),
  },
  'a change that exceeds the guard': {
    shows: { PartnerSyncOnHold: [/customers: 5 records would change/] },
    async cause(entries) {
      entries.declare('guard: { changed: 1 %, records: 2 }\n');
      await change(entries, 5, `name = 'all the same'`);
      await start(entries);
    },
    async fix(entries, follow) {
      await follow(['PartnerSyncOnHold'], /^approve <sync>$/, 'yes');
      entries.declare('');
    },
  },
  'a run that somebody paused, and forgot': {
    shows: { stalled: [/a run has settled nothing for 2h/, /ok +workers/] },
    async cause(entries) {
      const { shop } = entries;
      await change(entries, 1, `name = 'renamed a third time'`);
      // It cannot end before it is paused, and what it has begun can afterwards.
      const before = shop.proxy.uploads();
      refuse(entries, 503);
      const run = await start(entries);
      await eventually('it has begun to send', () => Promise.resolve(shop.proxy.uploads() > before));
      const { code, stderr } = await runInProcess(['pause', SYNC], entries.env);
      expect(code, stderr).toBe(0);
      shop.proxy.fail(undefined);
      await eventually('nothing works on it any more', async () => {
        const { raw } = await run.describe();
        return (raw.pendingActivities ?? []).length === 0;
      });
      await shop.state.query(
        `UPDATE partner_sync.runs SET started_at = started_at - interval '2 h' WHERE ended_at IS NULL;
         UPDATE partner_sync.partitions SET started_at = started_at - interval '2 h', updated_at = updated_at - interval '2 h'`,
      );
    },
    async fix({ shop }, follow) {
      await follow(['stalled'], /^resume/);
      await eventually('the run has ended', async () => {
        const active = await shop.state.query('SELECT FROM partner_sync.runs WHERE ended_at IS NULL');
        return active.length === 0;
      });
    },
  },
  'a platform that fails': {
    shows: { PartnerSyncPlatformFails: [/FAIL +platform/] },
    async cause(entries) {
      await change(entries, 1, `name = 'renamed a fourth time'`);
      refuse(entries, 500);
      await start(entries);
    },
    async fix({ shop }, follow) {
      await follow(['PartnerSyncPlatformFails'], /^pause/);
      shop.proxy.fail(undefined);
      await follow(['PartnerSyncPlatformFails'], /^resume/);
    },
  },
  'a ledger that is down': {
    shows: { PartnerSyncLedgerDown: [/FAIL +state/] },
    cause: ({ ledger }) => Promise.resolve(ledger.stop()),
    // It is started again; the worker goes on by itself.
    fix: ({ ledger }) => ledger.restore(),
  },
  'a source that holds all activity slots up': {
    shows: { PartnerSyncNoTaskSlots: [/FAIL +source/] },
    async cause({ shop, source }) {
      source.silence();
      // More than a worker has slots.
      for (let i = 0; i < 20; i++)
        await shop.start('backfill', { sync: SYNC, mapping: 'customers', externalIds: [`${i}`] });
    },
    fix: ({ source }) => source.restore(),
  },
  'a worker that was not started again': {
    shows: { PartnerSyncNoWorker: [/workers +none|has not asked for work|does not respond/] },
    cause: ({ endWorker }) => endWorker(),
    fix: (_, follow) => follow(['PartnerSyncNoWorker'], /^worker$/),
  },
};
