/** A sync of each test's own, and runs of it that ended so many days ago. */
import { randomUUID } from 'node:crypto';
import { beforeEach } from 'vitest';
import { DEFAULT_RETENTION } from '../../src/domain/sync/retention.js';
import type { RunTrigger } from '../../src/domain/run/search-attributes.js';
import type { AcquiredPartition } from '../../src/ledger/runs/partitions.js';
import { record, type ledgerForTests } from './ledger-for-tests.js';
import { newPartitionOf, newRun } from './new-partition.js';

export const SCHEDULE = 'partner-sync/x/minutely';

export interface RunOptions {
  readonly kind?: 'sync' | 'backfill';
  readonly trigger?: RunTrigger;
  /** How many days ago it ended. */
  readonly ago: number;
  readonly outcome?: 'complete' | 'incomplete' | 'failed' | 'complete_with_dead_letters';
  /** What it does before it ends. */
  readonly work?: (partition: AcquiredPartition) => Promise<void>;
}

export function pastRuns(the: ReturnType<typeof ledgerForTests>) {
  let sync: string;
  let mappingId: number;
  beforeEach(async () => {
    sync = randomUUID();
    mappingId = await the.ledger.ids.mappingId(sync, 'customers');
  });

  /** A run that ended so many days ago, with one partition; all that it wrote is as old. Returns its id. */
  async function run({
    kind = 'sync',
    trigger = 'other',
    ago,
    outcome = 'complete',
    work,
  }: RunOptions): Promise<string> {
    const { ledger, database } = the;
    const start = { trigger, by: trigger === 'schedule' ? SCHEDULE : 'ana@ops' };
    const id = await newRun(ledger, { sync, kind, mode: 'full', start });
    const partition = await newPartitionOf(ledger, mappingId, true, id);
    await work?.(partition);
    await ledger.runs.end(id, outcome);
    const past = `interval '${ago} days'`;
    await database.query(
      `UPDATE partner_sync.runs SET started_at = started_at - ${past}, ended_at = ended_at - ${past} WHERE id = $1`,
      [id],
    );
    await database.query(`UPDATE partner_sync.batches SET settled_at = settled_at - ${past} WHERE run_id = $1`, [id]);
    return id;
  }

  /** Work of a run: delivers one record. */
  const delivering =
    (externalId: string): RunOptions['work'] =>
    async (partition) =>
      the.deliver({ ...partition, mappingId }, [record(externalId, randomUUID())]);

  const claimed = (partition: AcquiredPartition, id: string) => the.claim(partition, [record(id, '1')]);

  /** Work of a run: one record that waits, pending in its batch. */
  const leavingPending: RunOptions['work'] = async (partition) => {
    const records = [record('pending', '1')];
    const claim = await the.claim(partition, records);
    const [batch] = claim.batches;
    await the.ledger.batches.markSent(batch!, 'b-1');
    await the.ledger.checkpoint(
      partition,
      await the.outcome(claim, records, 'waiting', {
        sent: [],
        batches: [{ id: batch!.id!, pending: ['pending'] }],
        waiting: [
          {
            kind: 'pending',
            tenantId: the.tenantIds.get('north')!,
            externalId: 'pending',
            sourceKey: ['pending'],
            reason: 'dependency',
            batchId: batch!.id!,
            contentHash: '0'.repeat(32),
            missing: [],
            expiresAt: null,
            dependencyWait: 60,
          },
        ],
      }),
    );
  };

  /** Work of a run: one dead letter. */
  const leavingDeadLetter: RunOptions['work'] = async (partition) => {
    const deadLetter = {
      tenantId: 0,
      externalId: 'dead',
      sourceKey: ['dead'],
      code: 'record_invalid' as const,
      pointer: '/email',
      rule: 'format',
      reason: 'not an email',
      shape: 'text(3) aaa',
    };
    await the.ledger.checkpoint(partition, await the.outcome(null, [], 'deadLettered', { deadLetters: [deadLetter] }));
  };

  const prune = (options = {}) => the.ledger.retention.prune(sync, DEFAULT_RETENTION, options);
  const rowsOf = async (table: string, where = 'mapping_id = $1', value: unknown = mappingId): Promise<number> =>
    (
      await the.database.query<{ n: number }>(`SELECT count(*)::int AS n FROM partner_sync.${table} WHERE ${where}`, [
        value,
      ])
    )[0]!.n;
  const runIds = async (most = 1000): Promise<string[]> =>
    (await the.ledger.runs.latest(sync, most)).map(({ id }) => id).reverse();
  /** What people and metrics are told of the sync's runs. */
  async function saidOf() {
    const [{ now: _, ...state } = { now: null }] = await the.ledger.syncStates.of(sync);
    const gauges = await the.ledger.gauges.read([sync]);
    return { state, schedule: await the.ledger.runs.ofSchedule(SCHEDULE), gauges };
  }
  /** Runs enough for those before them not to be among the latest. */
  const recentRuns = async (): Promise<void> => {
    for (let i = 0; i < 21; i++) await run({ ago: 0 });
  };

  return {
    get sync() {
      return sync;
    },
    get mappingId() {
      return mappingId;
    },
    run,
    delivering,
    claimed,
    leavingPending,
    leavingDeadLetter,
    prune,
    rowsOf,
    runIds,
    saidOf,
    recentRuns,
  };
}
