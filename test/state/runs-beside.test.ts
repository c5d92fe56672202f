/** Runs beside each other, at one ledger: none waits for the other for ever, and their books always add up. */
import { expect, it } from 'vitest';
import type { MappedRecord } from '../../src/domain/record.js';
import type { Claimed } from '../../src/state/claims.js';
import type { Column, GroupOutcome, WaitingRecord } from '../../src/state/group-outcome.js';
import type { TakenRange } from '../../src/state/ranges.js';
import type { RecordOutcome } from '../../src/state/record-outcomes.js';
import { seeded } from '../seeded.js';
import { ledgerForTests, record, type Reading } from './ledger-for-tests.js';

const the = ledgerForTests();
const { newRange, claim, outcome } = the;

it('lets claims and checkpoints of the same records pass each other without a deadlock', async () => {
  const ranges = await Promise.all(Array.from({ length: 4 }, () => newRange()));
  const ids = Array.from({ length: 300 }, (_, i) => `r${i}`);
  const errors: string[] = [];
  let delivered = 0;
  await Promise.all(
    ranges.map(async (range, lane) => {
      for (let round = 0; round < 12; round++) {
        const order = lane % 2 === 0 ? ids : [...ids].reverse();
        const rows = order.map((id) => record(id, `${lane}-${round}`));
        try {
          const claimed = await claim(range, rows);
          const mine = rows.filter((_, i) => claimed.verdicts[i] === undefined);
          delivered += mine.length;
          // Of all three kinds, so that records are freed by several statements.
          const records = mine.map(({ externalId, contentHash }, i): RecordOutcome => {
            const kind = (['accepted', 'rejected', 'unclear'] as const)[(i + lane + round) % 3]!;
            return { tenantId: the.tenantIds.get('north')!, externalId, contentHash, outcome: kind };
          });
          await the.ledger.checkpoint(range, await outcome(claimed, mine, 'accepted', { records }));
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
  it(`keeps books that add up, whatever two runs beside each other meet (seed ${seed})`, async () => {
    const random = seeded(seed);
    const ranges = [await newRange(), await newRange(false)];
    const sourceRows = new Map(Array.from({ length: 12 }, (_, i) => [`r${i}`, 0]));
    const inFlight: {
      range: TakenRange;
      claimed: Claimed;
      rows: MappedRecord[];
      read: Reading;
      kind: 'first' | 'again';
    }[] = [];
    const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;

    const begin = async (range: TakenRange, ids: readonly string[], kind: 'first' | 'again'): Promise<void> => {
      const before = await the.ledger.stamp();
      const rows = ids.map((id) => record(id, String(sourceRows.get(id))));
      const read = { before, after: await the.ledger.stamp() };
      inFlight.push({ range, claimed: await claim(range, rows, read), rows, read, kind });
    };
    const finish = async (): Promise<void> => {
      const { range, claimed, rows, read, kind } = inFlight.splice(random(inFlight.length), 1)[0]!;
      const tenantId = the.tenantIds.get('north')!;
      const [batch] = claimed.batches;
      const base = await outcome(claimed, [], 'accepted', { reading: { kind, ...read } });
      const records: GroupOutcome['records'][number][] = [];
      const waiting: WaitingRecord[] = [];
      const deadLetters: GroupOutcome['deadLetters'][number][] = [];
      const ends: GroupOutcome['ends'][number][] = [];
      rows.forEach((r, i) => {
        const end = (column: Column) =>
          ends.push({ tenantId, externalId: r.externalId, sourceKey: r.sourceKey, column });
        const wait = (reason: 'busy' | 'unclear') => {
          waiting.push({
            tenantId,
            externalId: r.externalId,
            sourceKey: r.sourceKey,
            reason,
            batchId: null,
            contentHash: null,
            missing: [],
            expiresAt: null,
            dueIn: -1,
          });
          end('waiting');
        };
        const verdict = claimed.verdicts[i];
        if (verdict === 'busy' || verdict === 'met') return wait('busy');
        if (verdict !== undefined) return void end(verdict);
        const fate = pick(['accepted', 'accepted', 'rejected', 'unclear'] as const);
        records.push({ tenantId, externalId: r.externalId, contentHash: r.contentHash, outcome: fate });
        if (fate === 'unclear') return wait('unclear');
        if (fate === 'accepted') return void end('accepted');
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
      await the.ledger.checkpoint(range, {
        ...base,
        records,
        waiting,
        deadLetters,
        ends,
        settled: batch === undefined ? [] : [batch.id!],
      });
    };
    const check = async (): Promise<void> => {
      const books = await the.database.query<Record<string, string>>(
        `SELECT b.*, (SELECT count(*) FROM partner_sync.waiting w WHERE w.range_id = b.range_id AND w.tenant_id = b.tenant_id AND w.booked) AS rows
           FROM partner_sync.books b WHERE range_id = ANY($1::bigint[])`,
        [ranges.map((r) => r.id)],
      );
      for (const b of books) {
        const n = (name: string): number => Number(b[name]);
        expect(n('read')).toBe(n('accepted') + n('unchanged') + n('waiting') + n('dead_lettered'));
        expect(n('waiting'), 'waiting in the books and in the table').toBe(n('rows'));
        for (const name of ['accepted', 'unchanged', 'waiting', 'dead_lettered'])
          expect(n(name), name).toBeGreaterThanOrEqual(0);
      }
      const twice = await the.database.query(
        `SELECT id FROM (SELECT json_array_elements_text(external_ids) AS id FROM partner_sync.batches WHERE mapping_id = $1 AND state IN ('intended','sent','waiting')) o GROUP BY id HAVING count(*) > 1`,
        [the.mappingId],
      );
      expect(twice).toEqual([]);
    };

    for (let step = 0; step < 60; step++) {
      const action = random(5);
      if (action === 0) sourceRows.set(pick([...sourceRows.keys()]), random(1000));
      else if (action <= 2)
        await begin(
          pick(ranges),
          [...sourceRows.keys()].filter(() => random(3) === 0),
          'first',
        );
      else if (action === 3) {
        const due = await the.ledger.waiting.due(the.mappingId, await the.ledger.waiting.now(), 5);
        await begin(
          pick(ranges),
          due.map((row) => row.externalId),
          'again',
        );
      } else if (inFlight.length > 0) await finish();
      await check();
    }
    while (inFlight.length > 0) await finish();
    await check();
  });
