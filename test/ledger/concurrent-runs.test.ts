/** Concurrent runs on one ledger: they do not deadlock, and their counts always add up. */
import { expect, it } from 'vitest';
import type { MappedRecord } from '../../src/domain/records/record.js';
import type { Claimed } from '../../src/ledger/batches/claims.js';
import type { DeadLetter, RowOutcome, RowOutcomeKind } from '../../src/ledger/outcomes/row-outcomes.js';
import type { AcquiredPartition } from '../../src/ledger/runs/partitions.js';
import type { SentRecord } from '../../src/ledger/outcomes/sent-records.js';
import type { WaitingRecord } from '../../src/ledger/waiting/index.js';
import { seeded } from '../seeded.js';
import { ledgerForTests, record, type Read } from './ledger-for-tests.js';

const the = ledgerForTests();
const { newPartition, claim, outcome } = the;

it('runs claims and checkpoints of the same records concurrently without a deadlock', async () => {
  const partitions = await Promise.all(Array.from({ length: 4 }, () => newPartition()));
  const ids = Array.from({ length: 300 }, (_, i) => `r${i}`);
  const errors: string[] = [];
  let delivered = 0;
  await Promise.all(
    partitions.map(async (partition, runner) => {
      for (let round = 0; round < 12; round++) {
        const order = runner % 2 === 0 ? ids : [...ids].reverse();
        const rows = order.map((id) => record(id, `${runner}-${round}`));
        try {
          const claimed = await claim(partition, rows);
          const mine = rows.filter((_, i) => claimed.skipReasons[i] === undefined);
          delivered += mine.length;
          // Of all three kinds, so that records are freed by several statements.
          const kinds = ['accepted', 'rejected', 'unknown'] as const;
          const sent = mine.map((r, i) => the.sent(r, kinds[(i + runner + round) % 3]));
          await the.ledger.checkpoint(partition, await outcome(claimed, mine, 'accepted', { sent }));
        } catch (error) {
          errors.push(String(error));
        }
      }
    }),
  );
  expect(errors).toEqual([]);
  expect(delivered).toBeGreaterThan(300);
  const [row] = await the.database.query(
    `SELECT count(*)::int AS n FROM partner_sync.batches WHERE state <> 'settled' AND mapping_id = $1`,
    [the.mappingId],
  );
  expect(row).toEqual({ n: 0 });
});

for (let seed = 1; seed <= 8; seed++)
  it(`keeps counts that add up, whatever two concurrent runs do (seed ${seed})`, async () => {
    const random = seeded(seed);
    const partitions = [await newPartition(), await newPartition(false)];
    const sourceRows = new Map(Array.from({ length: 12 }, (_, i) => [`r${i}`, 0]));
    const inFlight: {
      partition: AcquiredPartition;
      claimed: Claimed;
      rows: MappedRecord[];
      read: Read;
      kind: 'counted' | 'retry';
    }[] = [];
    const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;

    const begin = async (
      partition: AcquiredPartition,
      ids: readonly string[],
      kind: 'counted' | 'retry',
    ): Promise<void> => {
      const readSeqStart = await the.ledger.nextReadSeq();
      const rows = ids.map((id) => record(id, String(sourceRows.get(id))));
      const read = { readSeqStart, readSeqEnd: await the.ledger.nextReadSeq() };
      inFlight.push({ partition, claimed: await claim(partition, rows, read), rows, read, kind });
    };
    const finish = async (): Promise<void> => {
      const { partition, claimed, rows, read, kind } = inFlight.splice(random(inFlight.length), 1)[0]!;
      const tenantId = the.tenantIds.get('north')!;
      const [batch] = claimed.batches;
      const sent: SentRecord[] = [];
      const waiting: WaitingRecord[] = [];
      const deadLetters: DeadLetter[] = [];
      const rowOutcomes: RowOutcome[] = [];
      rows.forEach((r, i) => {
        const end = (outcome: RowOutcomeKind) => rowOutcomes.push(the.rowOutcome(r, outcome));
        const wait = (reason: 'contended' | 'unknown') => {
          waiting.push(the.queued(r, { reason, dueIn: -1 }));
          end('waiting');
        };
        const reason = claimed.skipReasons[i];
        if (reason === 'contended' || reason === 'sent_in_this_run' || reason === 'deletion') return wait('contended');
        if (reason === 'pending') return void end('waiting');
        if (reason !== undefined) return void end(reason === 'delivered_in_this_run' ? 'accepted' : reason);
        const outcome = pick(['accepted', 'accepted', 'rejected', 'unknown'] as const);
        sent.push(the.sent(r, outcome));
        if (outcome === 'unknown') return wait('unknown');
        if (outcome === 'accepted') return void end('accepted');
        deadLetters.push({
          tenantId,
          externalId: r.externalId,
          sourceKey: r.sourceKey,
          code: 'platform_refused',
          pointer: '',
          rule: '',
          reason: '',
          shape: '',
        });
        end('deadLettered');
      });
      const batches = batch === undefined ? [] : [{ id: batch.id!, pending: [] }];
      const parts = { kind, readSeqs: read, sent, batches, waiting, deadLetters, rowOutcomes };
      await the.ledger.checkpoint(partition, await outcome(claimed, [], 'accepted', parts));
    };
    const check = async (): Promise<void> => {
      const counts = await the.database.query<Record<string, string>>(
        `SELECT c.*, (SELECT count(*) FROM partner_sync.waiting w
             WHERE w.partition_id = c.partition_id AND w.tenant_id = c.tenant_id AND w.counted) AS rows
           FROM partner_sync.partition_counts c WHERE partition_id = ANY($1::bigint[])`,
        [partitions.map((p) => p.id)],
      );
      for (const row of counts) {
        const n = (name: string): number => Number(row[name]);
        expect(n('read')).toBe(n('accepted') + n('unchanged') + n('waiting') + n('dead_lettered'));
        expect(n('waiting'), 'waiting in the counts and in the table').toBe(n('rows'));
        for (const name of ['accepted', 'unchanged', 'waiting', 'dead_lettered'])
          expect(n(name), name).toBeGreaterThanOrEqual(0);
      }
      const twice = await the.database.query(
        `SELECT id FROM (SELECT json_array_elements_text(external_ids) AS id FROM partner_sync.batches WHERE mapping_id = $1 AND state IN ('intended','sent','pending')) o GROUP BY id HAVING count(*) > 1`,
        [the.mappingId],
      );
      expect(twice).toEqual([]);
    };

    for (let step = 0; step < 60; step++) {
      const action = random(5);
      if (action === 0) sourceRows.set(pick([...sourceRows.keys()]), random(1000));
      else if (action <= 2)
        await begin(
          pick(partitions),
          [...sourceRows.keys()].filter(() => random(3) === 0),
          'counted',
        );
      else if (action === 3) {
        const due = await the.ledger.waiting.due(the.mappingId, await the.ledger.waiting.now(), 5);
        await begin(
          pick(partitions),
          due.map((row) => row.externalId),
          'retry',
        );
      } else if (inFlight.length > 0) await finish();
      await check();
    }
    while (inFlight.length > 0) await finish();
    await check();
  });
