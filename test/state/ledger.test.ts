/** The ledger's promises, kept by PostgreSQL: who may send what, how far a run is, and books that always add up. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { recoverRange } from '../../activities/recover-range.js';
import type { UploadScope } from '../../activities/upload-batch.js';
import { PartnerSyncError } from '../../src/domain/errors.js';
import { recordOf, RecordList } from '../../src/domain/record-list.js';
import type { MappedRecord } from '../../src/domain/record.js';
import type { Column, GroupOutcome, WaitingRecord } from '../../src/state/group-outcome.js';
import type { Claimed } from '../../src/state/claims.js';
import { openLedger, type Ledger } from '../../src/state/ledger.js';
import type { RecordOutcome } from '../../src/state/record-outcomes.js';
import type { TakenRange } from '../../src/state/ranges.js';
import { createDatabase, type Database } from '../pipeline/shop.js';
import { seeded } from '../seeded.js';
import { newRangeOf } from './new-range.js';

let database: Database;
let ledger: Ledger;
let mappingId: number;
let tenantIds: ReadonlyMap<string, number>;

beforeAll(async () => {
  database = await createDatabase();
  ledger = await openLedger(database.url);
  tenantIds = await ledger.catalog.tenantIds(['north', 'south']);
});
afterAll(async () => {
  await ledger.close();
  await database.drop();
});
beforeEach(async () => {
  mappingId = await ledger.catalog.mappingId('shop', randomUUID());
});

const newRange = (movesPosition = true, run?: string): Promise<TakenRange> =>
  newRangeOf(ledger, mappingId, movesPosition, run);

const record = (externalId: string, content: string, tenant = 'north'): MappedRecord =>
  recordOf(tenant, externalId, [externalId], JSON.stringify({ id: externalId, content }));

interface Reading {
  readonly before: string;
  readonly after: string;
}
/** The times around a reading that happens now. */
const reading = async (): Promise<Reading> => ({ before: await ledger.stamp(), after: await ledger.stamp() });

const claim = async (range: TakenRange, records: readonly MappedRecord[], read?: Reading): Promise<Claimed> =>
  ledger.claim(range, {
    ...(read ?? (await reading())),
    records: RecordList.of(records),
    tenantIds,
    cut: (all) => (all.length === 0 ? [] : [all]),
  });

/** What a group that ended so writes; `more` says what else. */
async function outcome(
  claimed: Claimed | null,
  records: readonly MappedRecord[],
  column: Column,
  more: Partial<GroupOutcome> = {},
): Promise<GroupOutcome> {
  const tenantIdOf = (r: MappedRecord): number => tenantIds.get(r.tenant)!;
  return {
    reading: { kind: 'first', ...(await reading()) },
    bulk: [],
    records:
      claimed === null
        ? []
        : records.map((r) => ({
            tenantId: tenantIdOf(r),
            externalId: r.externalId,
            contentHash: r.contentHash,
            outcome: 'accepted',
          })),
    settled: claimed?.batches.map((b) => b.id!) ?? [],
    held: [],
    waiting: [],
    deadLetters: [],
    ends: records.map((r) => ({ tenantId: tenantIdOf(r), externalId: r.externalId, sourceKey: r.sourceKey, column })),
    readTwice: 0,
    position: null,
    done: false,
    ...more,
  };
}

const deliver = async (range: TakenRange, records: readonly MappedRecord[], read?: Reading): Promise<void> =>
  ledger.checkpoint(range, await outcome(await claim(range, records, read), records, 'accepted'));

const codeOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no error',
    (error: unknown) => (error instanceof PartnerSyncError ? error.code : String(error)),
  );

it('claims a record once: what was accepted is not sent again, by this run or another', async () => {
  const [mine, other] = [await newRange(), await newRange()];
  await deliver(mine, [record('a', '1'), record('b', '1')]);

  const again = await claim(mine, [record('a', '1'), record('b', '2')]);
  expect(again.verdicts).toEqual(['accepted', undefined]);
  expect(again.batches.flatMap((b) => b.records.map((r) => r.externalId))).toEqual(['b']);
  expect((await claim(other, [record('a', '1')])).verdicts).toEqual(['unchanged']);
});

it('tells equal external ids of two tenants apart', async () => {
  const range = await newRange();
  await deliver(range, [record('a', '1', 'north')]);
  const { verdicts, batches } = await claim(range, [record('a', '1', 'south')]);
  expect(verdicts.some(Boolean)).toBe(false);
  expect(batches[0]).toMatchObject({ tenant: 'south' });
});

it('does not claim a record that another unfinished batch holds', async () => {
  const [mine, other] = [await newRange(), await newRange()];
  const first = await claim(mine, [record('a', '1')]);

  expect((await claim(other, [record('a', '2')])).verdicts).toEqual(['busy']);
  expect((await claim(other, [record('a', '1')])).verdicts).toEqual(['busy']);

  await ledger.checkpoint(mine, await outcome(first, [record('a', '1')], 'accepted'));
  expect((await claim(other, [record('a', '2')])).verdicts.some(Boolean)).toBe(false);
});

it('never claims what was read before what was claimed last', async () => {
  const [slow, quick] = [await newRange(), await newRange()];
  const early = await reading();
  await deliver(quick, [record('a', 'new')]);

  expect((await claim(slow, [record('a', 'old')], early)).verdicts).toEqual(['busy']);

  // Neither is a reading taken that overlaps with it.
  const before = await ledger.stamp();
  await deliver(quick, [record('a', 'newer')]);
  const overlapping = { before, after: await ledger.stamp() };
  expect((await claim(slow, [record('a', 'old')], overlapping)).verdicts).toEqual(['busy']);
  expect((await claim(slow, [record('a', 'newest')])).verdicts.some(Boolean)).toBe(false);
});

it('never claims what was read before the row was seen to be as the platform has it', async () => {
  const [first, slow, second] = [await newRange(), await newRange(), await newRange()];
  await deliver(first, [record('a', 'A'), record('b', 'A')]);
  // The row is B for a moment, in which it is read; then it is A again, and another run finds nothing to send.
  const early = await reading();
  expect((await claim(second, [record('a', 'A')])).verdicts).toEqual(['unchanged']);

  const claimed = await claim(slow, [record('a', 'B'), record('b', 'B')], early);

  expect(claimed.verdicts).toEqual(['busy', undefined]);
  expect((await claim(slow, [record('a', 'B')])).verdicts).toEqual([undefined]);
});

it('writes nothing for unchanged records while no other run reads the mapping', async () => {
  const [range, other] = [await newRange(), await newRange()];
  await deliver(range, [record('a', 'A')]);
  await ledger.runs.end(range.runId, 'complete');
  const version = () => database.query(`SELECT xmin::text, ctid::text FROM partner_sync.record_blocks`);
  const before = await version();

  for (const run of await ledger.runs.unended('shop'))
    if (run.id !== other.runId) await ledger.runs.end(run.id, 'failed');
  expect((await claim(other, [record('a', 'A')])).verdicts).toEqual(['unchanged']);

  expect(await version()).toEqual(before);
});

it('lets a record that failed be sent again, and knows nothing of its content then', async () => {
  const range = await newRange();
  const a = record('a', '1');
  for (const end of ['rejected', 'unclear'] as const) {
    const claimed = await claim(range, [a]);
    expect(claimed.verdicts.some(Boolean)).toBe(false);
    const { contentHash } = a;
    const records = [{ tenantId: tenantIds.get('north')!, externalId: 'a', contentHash, outcome: end }];
    await ledger.checkpoint(range, await outcome(claimed, [a], 'deadLettered', { records }));
    const keys = { tenantIds: [tenantIds.get('north')!], externalIds: ['a'] };
    expect((await ledger.receipts.hashes(mappingId, keys)).size).toBe(0);
  }
});

it('finds the receipt of a record behind one whose tenant it has never seen', async () => {
  const range = await newRange();
  await deliver(range, [record('b', '1', 'south')]);
  const keys = { tenantIds: [tenantIds.get('north')!, tenantIds.get('south')!], externalIds: ['a', 'b'] };
  expect([...(await ledger.receipts.hashes(mappingId, keys)).keys()]).toEqual([1]);
});

it('fences an attempt off that was superseded, whatever it tries to write', async () => {
  const zombie = await newRange();
  const claimed = await claim(zombie, [record('a', '1')]);
  const [batch] = claimed.batches;
  const successor = await ledger.ranges.take(zombie.id);

  expect(await codeOf(claim(zombie, [record('b', '1')]))).toBe('fenced_off');
  expect(await codeOf(ledger.checkpoint(zombie, await outcome(claimed, [record('a', '1')], 'accepted')))).toBe(
    'fenced_off',
  );
  expect(await codeOf(ledger.batches.renew(zombie, batch!))).toBe('fenced_off');
  expect(
    await codeOf(ledger.batches.split(zombie, batch!, [RecordList.of([record('a', '1')]), RecordList.of([])])),
  ).toBe('fenced_off');
  const [open] = await ledger.batches.leftBehind(successor);
  expect(await codeOf(ledger.batches.recover(zombie, open!, [], []))).toBe('fenced_off');
  expect(open).toMatchObject({ id: batch!.id, externalIds: ['a'], state: 'intended' });
});

it('finds what a run left behind that is over, fences its attempts off, and frees its records once', async () => {
  const dead = await newRange();
  const abandoned = await claim(dead, [record('a', '1')]);
  const [one, two] = [await newRange(), await newRange()];
  expect(await ledger.batches.leftBehind(one)).toEqual([]);

  await ledger.runs.end(dead.runId, 'failed');
  const [found] = await ledger.batches.leftBehind(one);
  expect(found!.id).toBe(abandoned.batches[0]!.id);
  expect(await codeOf(claim(dead, [record('b', '1')]))).toBe('fenced_off');

  const unclear = [
    { tenantId: found!.tenantId, externalId: 'a', contentHash: found!.contentHashes[0]!, outcome: 'unclear' as const },
  ];
  await ledger.batches.recover(one, found!, unclear, []);
  const taken = await claim(one, [record('a', '1')]);
  expect(taken.verdicts.some(Boolean)).toBe(false);
  // Another range of the successor found the same batch: by now the record is somebody else's.
  await ledger.batches.recover(two, found!, unclear, []);
  expect((await claim(two, [record('a', '1')])).verdicts).toEqual(['busy']);
});

it('waits for the platform to be through with a POST of unknown fate, before its records are free', async () => {
  const inDoubtDelay = 0.5;
  const dead = await newRange();
  await claim(dead, [record('a', '1')]);
  const range = await ledger.ranges.take(dead.id);
  const started = performance.now();

  // Half a delay until the POST may begin, half for its answer, and a whole one for the platform.
  const scope = {
    deps: { ledger },
    sync: { spec: { upload: { inDoubtDelay } } },
    range,
    signal: new AbortController().signal,
  };
  await recoverRange(scope as unknown as UploadScope);

  expect(performance.now() - started).toBeGreaterThan(2 * inDoubtDelay * 1000 - 200);
  expect((await claim(range, [record('a', '1')])).verdicts.some(Boolean)).toBe(false);
});

it('moves a position by a checkpoint only, and only for ranges that may', async () => {
  const range = await newRange();
  const backfill = await newRange(false);
  const rows = [record('a', '1')];
  const position = { cursor: '2020-01-01 00:00:00.000001+00', key: ['a'] };
  const claimed = await claim(range, rows);
  await ledger.batches.sent(claimed.batches[0]!, 'platform-1');
  expect(await ledger.ranges.position(mappingId)).toBeNull();

  await ledger.checkpoint(backfill, await outcome(null, [], 'accepted', { position }));
  expect(await ledger.ranges.position(mappingId)).toBeNull();
  expect((await ledger.ranges.take(backfill.id)).bounds.after).toEqual(position);

  await ledger.checkpoint(range, await outcome(claimed, rows, 'accepted', { position }));
  expect(await ledger.ranges.position(mappingId)).toMatchObject(position);
  expect((await ledger.ranges.take(range.id)).bounds.after).toEqual(position);
});

it('writes all of a checkpoint or nothing', async () => {
  const range = await newRange();
  const rows = [record('a', '1')];
  const claimed = await claim(range, rows);
  const broken = await outcome(claimed, rows, 'accepted', {
    position: { cursor: 'x', key: ['a'] },
    waiting: [
      {
        tenantId: 1,
        externalId: 'z',
        sourceKey: ['z'],
        reason: 'nonsense' as 'busy',
        batchId: null,
        contentHash: null,
        missing: [],
        expiresAt: null,
        dueIn: 1,
      },
    ],
  });
  expect(await codeOf(ledger.checkpoint(range, broken))).toBe('unexpected');
  expect(await ledger.ranges.position(mappingId)).toBeNull();
  expect((await claim(await newRange(), rows)).verdicts).toEqual(['busy']);
});

it('keeps ids of any text', async () => {
  const odd = [
    `'`,
    '"',
    '\\',
    '{}',
    '{"a",b}',
    'NULL',
    'null',
    ',',
    ' ',
    '$1',
    '?',
    '??',
    ':name',
    'ä😀',
    '\u202E',
    'x'.repeat(2000),
    '\t\n',
  ];
  const range = await newRange();
  const rows = odd.map((id) => record(id, '1'));
  const claimed = await claim(range, rows);
  expect(claimed.verdicts.some(Boolean)).toBe(false);
  const [open] = await ledger.batches.leftBehind(range);
  expect(open!.externalIds).toEqual(odd);
  await ledger.checkpoint(range, await outcome(claimed, rows, 'accepted'));
  const again = await claim(range, rows);
  expect(again.verdicts.filter(Boolean).length).toBe(odd.length);

  const waits: WaitingRecord[] = odd.map((id) => ({
    tenantId: tenantIds.get('north')!,
    externalId: id,
    sourceKey: [id, id],
    reason: 'busy',
    batchId: null,
    contentHash: null,
    missing: [],
    expiresAt: null,
    dueIn: -1,
  }));
  await ledger.checkpoint(range, await outcome(null, rows, 'waiting', { waiting: waits }));
  const due = await ledger.waiting.due(mappingId, await ledger.waiting.now(), 100);
  expect(due.map((row) => row.sourceKey[1]).sort()).toEqual([...odd].sort());
});

it('says what is wrong with an id that PostgreSQL cannot hold, without quoting it', async () => {
  const range = await newRange();
  const ends = [record('canary\u0000', '1')];
  const waiting: WaitingRecord = {
    ...{ tenantId: tenantIds.get('north')!, externalId: 'canary\u0000', sourceKey: ['1'] },
    ...{ reason: 'busy', batchId: null, contentHash: null, missing: [], expiresAt: null, dueIn: 1 },
  };
  const written = ledger.checkpoint(range, await outcome(null, ends, 'waiting', { waiting: [waiting] }));
  const error = await written.catch((e: unknown) => e as Error);
  expect(error).toBeInstanceOf(PartnerSyncError);
  expect((error as Error).message).not.toContain('canary');
});

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
            return { tenantId: tenantIds.get('north')!, externalId, contentHash, outcome: kind };
          });
          await ledger.checkpoint(range, await outcome(claimed, mine, 'accepted', { records }));
        } catch (error) {
          errors.push(String(error));
        }
      }
    }),
  );
  expect(errors).toEqual([]);
  expect(delivered).toBeGreaterThan(300);
  const [row] = await database.query(
    `SELECT count(*)::int AS n FROM partner_sync.batches WHERE state <> 'settled' AND mapping_id = $1`,
    [mappingId],
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
      const before = await ledger.stamp();
      const rows = ids.map((id) => record(id, String(sourceRows.get(id))));
      const read = { before, after: await ledger.stamp() };
      inFlight.push({ range, claimed: await claim(range, rows, read), rows, read, kind });
    };
    const finish = async (): Promise<void> => {
      const { range, claimed, rows, read, kind } = inFlight.splice(random(inFlight.length), 1)[0]!;
      const tenantId = tenantIds.get('north')!;
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
      await ledger.checkpoint(range, {
        ...base,
        records,
        waiting,
        deadLetters,
        ends,
        settled: batch === undefined ? [] : [batch.id!],
      });
    };
    const check = async (): Promise<void> => {
      const books = await database.query<Record<string, string>>(
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
      const twice = await database.query(
        `SELECT id FROM (SELECT json_array_elements_text(external_ids) AS id FROM partner_sync.batches WHERE mapping_id = $1 AND state IN ('intended','sent','waiting')) o GROUP BY id HAVING count(*) > 1`,
        [mappingId],
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
        const due = await ledger.waiting.due(mappingId, await ledger.waiting.now(), 5);
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
