/**
 * Runs that meet at the same records, in transactions that are open at the same time, statement by statement in the order that a
 * seed decides: which content wins, who may write, and what is counted.
 */
import { expect, it } from 'vitest';
import { PartnerSyncError } from '../../src/domain/errors.js';
import type { IntendedBatch } from '../../src/ledger/batches/batch-intents.js';
import type { AcquiredPartition } from '../../src/ledger/runs/partitions.js';
import { seeded } from '../seeded.js';
import { interleaving, type Session } from './interleaving.js';
import { ledgerForTests, record } from './ledger-for-tests.js';
import { newPartitionOf } from './new-partition.js';

const the = ledgerForTests();
const IDS = ['a', 'b', 'c', 'd'];
const SEEDS = 8 * Number(process.env['TEST_ROUNDS'] ?? 1);

/** A row's content at one moment; later moments have greater numbers, also where a row has got back what it had. */
interface Version {
  readonly moment: number;
  readonly content: string;
}

/** The source, the platform, and what must never happen between them. */
class Story {
  readonly source = new Map(IDS.map((id) => [id, { moment: 0, content: '0' }] as [string, Version]));
  /** Each record with the moment of the latest reading that has found the platform's content in the source. */
  readonly platform = new Map<string, Version>();
  readonly violations: string[] = [];
  readonly #random: (below: number) => number;
  #moment = 0;

  constructor(random: (below: number) => number) {
    this.#random = random;
  }

  /** Changes a row, at times to what it had before. */
  change(): void {
    const id = IDS[this.#random(IDS.length)]!;
    this.source.set(id, { moment: ++this.#moment, content: String(this.#random(3)) });
  }

  arrives(id: string, version: Version): void {
    const stored = this.platform.get(id);
    if (stored !== undefined && stored.moment > version.moment)
      this.violations.push(`older over newer: ${id} of moment ${version.moment} over ${stored.moment}`);
    this.platform.set(id, version);
  }

  isUnchanged(id: string, version: Version): void {
    const stored = this.platform.get(id);
    if (stored?.content !== version.content)
      this.violations.push(`${id} counts as unchanged at ${version.content}, and the platform has ${stored?.content}`);
    else if (stored.moment < version.moment) this.platform.set(id, version);
  }
}

interface How {
  readonly kind?: 'counted' | 'retry';
  readonly beforePost?: (batch: IntendedBatch) => Promise<unknown>;
}

/** Reads rows, claims their records, sends them, and writes what became of them. */
async function deliver(
  story: Story,
  session: Session,
  partition: AcquiredPartition,
  ids: readonly string[],
  { kind = 'counted', beforePost = () => Promise.resolve() }: How = {},
): Promise<void> {
  const { ledger } = session;
  const readSeqStart = await ledger.nextReadSeq();
  const versions = new Map(ids.map((id) => [id, story.source.get(id)!]));
  const rows = ids.map((id) => record(id, versions.get(id)!.content));
  await session.turn();
  const readSeqs = { readSeqStart, readSeqEnd: await ledger.nextReadSeq() };
  const claimed = await the.claimOn(ledger, partition, rows, readSeqs);
  const skipped = (reason: string) => rows.filter((_, i) => claimed.skipReasons[i] === reason);
  for (const { externalId } of [...skipped('unchanged'), ...skipped('delivered_in_this_run')])
    story.isUnchanged(externalId, versions.get(externalId)!);
  await session.turn();
  for (const batch of claimed.batches) {
    await beforePost(batch);
    for (const id of batch.records.externalIds) story.arrives(id, versions.get(id)!);
  }
  await session.turn();
  const accepted = rows.filter((_, i) => claimed.skipReasons[i] === undefined);
  await ledger.checkpoint(
    partition,
    await the.outcome(claimed, [], 'accepted', {
      kind,
      readSeqs,
      sent: accepted.map((r) => the.sent(r)),
      waiting: skipped('contended').map((r) => the.queued(r, { dueIn: -1 })),
      rowOutcomes: [
        ...[...accepted, ...skipped('delivered_in_this_run')].map((r) => the.rowOutcome(r, 'accepted')),
        ...skipped('unchanged').map((r) => the.rowOutcome(r, 'unchanged')),
        ...skipped('contended').map((r) => the.rowOutcome(r, 'waiting')),
      ],
    }),
  );
}

async function deliverDue(story: Story, session: Session, partition: AcquiredPartition): Promise<boolean> {
  const { waiting } = session.ledger;
  const due = await waiting.due(the.mappingId, await waiting.now(), 10);
  if (due.length === 0) return false;
  const ids = [...new Set(due.map(({ externalId }) => externalId))];
  await deliver(story, session, partition, ids, { kind: 'retry' });
  return true;
}

const isFencedOff = (error: unknown): boolean => error instanceof PartnerSyncError && error.code === 'fenced_off';

/** What a seed tells: the violations, and how often a session waited for another one's lock. */
async function tell(seed: number, rewrite?: (sql: string) => string): Promise<{ violations: string[]; waits: number }> {
  await the.newMapping();
  const random = seeded(seed);
  const story = new Story(random);
  const sessions = interleaving(the.database, random, rewrite);
  const some = (): string[] => IDS.filter(() => random(3) > 0);
  try {
    const partitions: AcquiredPartition[] = [];
    let taken: AcquiredPartition | undefined;
    /** Whether the attempt that is taken over has been away for longer than anybody waits for its POST. */
    let isTooLate = false;
    const wait = async (session: Session, turns: number): Promise<void> => {
      for (let i = random(turns); i > 0; i--) await session.turn();
    };
    const begin = async ({ ledger }: Session): Promise<AcquiredPartition> => {
      const partition = await newPartitionOf(ledger, the.mappingId);
      partitions.push(partition);
      return partition;
    };
    const run = async (session: Session): Promise<void> => {
      await wait(session, 15);
      const partition = await begin(session);
      for (let round = 0; round < 4; round++) {
        const ids = some();
        if (ids.length > 0) await deliver(story, session, partition, ids);
        if (random(2) === 0) await deliverDue(story, session, partition);
      }
    };
    const frozen = async (session: Session): Promise<void> => {
      const own = (taken = await begin(session));
      const beforePost = async (batch: IntendedBatch): Promise<void> => {
        await wait(session, 80);
        if (isTooLate) await session.ledger.batches.renew(own, batch);
      };
      try {
        for (let round = 0; round < 4; round++) await deliver(story, session, own, IDS, { beforePost });
      } catch (error) {
        if (!isFencedOff(error)) throw error;
      }
    };
    const successor = async (session: Session): Promise<void> => {
      while (taken === undefined) await session.turn();
      await wait(session, 40);
      const { batches, partitions: of } = session.ledger;
      const again = await of.acquire(taken.id);
      partitions.push(again);
      for (const batch of await batches.takeOverLeftBehind(again)) {
        isTooLate = true;
        const outcomes = batch.externalIds.map((externalId, i) => ({
          tenantId: batch.tenantId,
          externalId,
          contentHash: batch.contentHashes[i]!,
          outcome: 'unknown' as const,
        }));
        await batches.recover(again, batch, { outcomes, pending: [], dependencyWait: 0 });
      }
      await deliver(story, session, again, IDS);
    };
    const between = async (): Promise<void> => {
      if (random(6) === 0) story.change();
      const twice = await the.database.query<{ id: string }>(
        `SELECT e.id FROM partner_sync.batches b, json_array_elements_text(b.external_ids) AS e(id)
         WHERE b.mapping_id = $1 AND b.state IN ('intended', 'sent') GROUP BY e.id HAVING count(*) > 1`,
        [the.mappingId],
      );
      for (const { id } of twice) story.violations.push(`${id} is in two batches in flight`);
    };
    const work = [run, run, frozen, successor];
    for (let i = 0; i < work.length; i++) sessions.session();
    const waits = await sessions.run(work, between);

    // What has changed since, and what was contended, is read again until nothing is left.
    const last: Session = { ledger: the.ledger, turn: () => Promise.resolve() };
    const end = await the.newPartition();
    await deliver(story, last, end, IDS);
    for (let rounds = 0; await deliverDue(story, last, end); rounds++)
      if (rounds > 20) {
        story.violations.push('some records are contended for ever');
        break;
      }
    for (const id of IDS)
      if (story.platform.get(id)?.content !== story.source.get(id)!.content) story.violations.push(`${id} is stale`);
    await addUp(story, [...new Set(partitions.map(({ id }) => id))]);
    return { violations: story.violations, waits };
  } finally {
    await sessions.close();
  }
}

async function addUp(story: Story, partitions: readonly string[]): Promise<void> {
  const wrong = await the.database.query<{ partition_id: string }>(
    `SELECT partition_id FROM partner_sync.partition_counts
     WHERE partition_id = ANY ($1::bigint[]) AND read <> accepted + unchanged + waiting + dead_lettered`,
    [partitions],
  );
  for (const { partition_id: id } of wrong) story.violations.push(`the counts of partition ${id} do not add up`);
}

let waits = 0;
for (let seed = 1; seed <= SEEDS; seed++)
  it(`sends nothing twice at once, nothing older over newer, and loses nothing (seed ${seed})`, async () => {
    const told = await tell(seed);
    expect(told.violations).toEqual([]);
    waits += told.waits;
  });

it('lets sessions wait for the locks of others', () => {
  expect(waits).toBeGreaterThan(SEEDS);
});

/** What statements are for: without this part of one, some order of the statements does harm. `seed`: where that shows first. */
const PLANTED = {
  'claims that do not exclude each other': {
    from: /pg_advisory_xact_lock\(\$1/,
    to: 'pg_advisory_xact_lock_shared($1',
    seed: 51,
  },
  'an attempt that is not fenced off': {
    from: /AND fencing_token = \$3/,
    to: 'AND CAST($3 AS bigint) IS NOT NULL',
    seed: 2,
  },
  'a partition that is taken over during a claim': {
    from: /UPDATE partitions SET updated_at = now\(\) FROM run/,
    to: 'SELECT FROM partitions, run',
    seed: 12,
  },
  'a reading beside another run that leaves no trace if nothing has changed': {
    from: /\(runs\.id <> /,
    to: '(false AND runs.id <> ',
    seed: 42,
  },
};
/** Other statements in the ledger make other stories of the seeds: then the bug shows in a later one. */
const FURTHER_SEEDS = 60;

for (const [what, { from, to, seed: first }] of Object.entries(PLANTED))
  it(`notices ${what}`, async () => {
    let rewritten = 0;
    const rewrite = (sql: string): string => {
      if (from.test(sql)) rewritten++;
      return sql.replace(from, to);
    };
    let seed = first;
    while (seed < first + FURTHER_SEEDS && (await tell(seed, rewrite)).violations.length === 0) seed++;
    expect(rewritten).toBeGreaterThan(0);
    expect(seed, 'seeds that have noticed nothing').toBeLessThan(first + FURTHER_SEEDS);
  });
