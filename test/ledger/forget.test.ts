/** Forgetting a record or a tenant: nothing of it is left in the ledger, and everything else is as before. */
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Forgetting, Forgotten } from '../../src/ledger/forget/forget.js';
import { FIRST_PLACE } from '../../src/ledger/record-key.js';
import type { AcquiredPartition } from '../../src/ledger/runs/partitions.js';
import type { RunInput } from '../../src/domain/run/run.js';
import { FORGOTTEN } from './id-columns.js';
import { ledgerForTests, record } from './ledger-for-tests.js';

const the = ledgerForTests();
const CANARY = 'canary-17850';
const ANA = { who: 'ana@ops', origin: 'cli' } as const;

let sync: string;
let mappingId: number;
beforeEach(async () => {
  sync = randomUUID();
  mappingId = await the.ledger.ids.mappingId(sync, 'customers');
});

/** A run that does this and ends, unless it is to be left working. */
async function run(
  work: (partition: AcquiredPartition) => Promise<unknown>,
  { input = {}, ends = true }: { readonly input?: Partial<RunInput>; readonly ends?: boolean } = {},
): Promise<string> {
  const { ledger } = the;
  const { id } = await ledger.runs.begin({
    sync,
    kind: 'backfill',
    mode: 'backfill',
    input: { sync, ...input },
    files: null,
    mappingVersion: 'v1',
    workflowId: 'w',
    firstExecutionRunId: randomUUID(),
    start: { trigger: 'cli', by: 'ana@ops' },
  });
  const { afterKey = null, throughKey = null, externalIds = null } = input;
  const bounds = { cursorFrom: null, cursorBefore: null, afterKey, throughKey, externalIds };
  await ledger.partitions.plan(id, mappingId, [{ ...bounds, byCursor: true, movesPosition: false }]);
  const [planned] = await ledger.partitions.planned(id, mappingId);
  await work(await ledger.partitions.acquire(planned!.id));
  if (ends) await ledger.runs.end(id, 'complete');
  return id;
}

const deliver = (ids: readonly string[], tenant = 'north') =>
  run((partition) =>
    the.deliver(
      partition,
      ids.map((id) => record(id, '1', tenant)),
    ),
  );

const about = (what: Partial<Forgetting>): Forgetting => ({
  sync,
  tenant: null,
  externalId: null,
  mappings: null,
  schemas: null,
  ...what,
});
const forget = (what: Partial<Forgetting>): Promise<Forgotten> => the.ledger.forget.forget(about(what), ANA);

/** All accepted records of the mapping, as `tenant/id`. */
async function accepted(): Promise<string[]> {
  const names = new Map([...the.tenantIds].map(([name, id]) => [id, name]));
  const { acceptedHashes } = await the.ledger.acceptedHashes.page(mappingId, FIRST_PLACE, null);
  return acceptedHashes.map(({ tenantId, externalId }) => `${names.get(tenantId)!}/${externalId}`).sort();
}

/** The columns in which the text is found, as `table.column`; ids in keys of blocks are in UTF-16. */
async function columnsWith(text: string): Promise<string[]> {
  const columns = await the.database.query<{ table: string; column: string }>(
    `SELECT table_name AS table, column_name AS column FROM information_schema.columns WHERE table_schema = 'partner_sync'`,
  );
  const hex = Buffer.from(text, 'utf16le').swap16().toString('hex');
  const found = columns.map(
    ({ table, column }) => `SELECT '${table}.${column}' AS name FROM partner_sync.${table}
      WHERE "${column}"::text LIKE '%' || $1 || '%' OR "${column}"::text LIKE '%' || $2 || '%'`,
  );
  const rows = await the.database.query<{ name: string }>(`${found.join(' UNION ')} ORDER BY 1`, [text, hex]);
  return rows.map(({ name }) => name);
}

/** Work of a run: leaves a dead letter of this record, and one of a child that names it as its parent. */
const leavingDeadLetters = async (partition: AcquiredPartition): Promise<void> => {
  const cause = { code: 'record_invalid' as const, pointer: '/email', rule: 'format', reason: '-', shape: '-' };
  const tenantId = the.tenantIds.get('north')!;
  await the.ledger.checkpoint(
    partition,
    await the.outcome(null, [], 'deadLettered', {
      deadLetters: [
        { ...cause, tenantId, externalId: CANARY, sourceKey: [CANARY] },
        { ...cause, tenantId: 0, externalId: null, sourceKey: [`${CANARY}-2`] },
        {
          ...cause,
          tenantId,
          externalId: 'order-1',
          sourceKey: ['order-1'],
          missing: [
            { schemaName: 'customer', externalId: CANARY },
            { schemaName: 'product', externalId: 'p-1' },
          ],
        },
      ],
    }),
  );
};

/** A record as it was sent. */
const sentOf = (externalId: string) => ({
  tenantId: the.tenantIds.get('north')!,
  externalIds: [externalId],
  contentHashes: ['1'.repeat(32)],
});

/** Work of a run: the record waits to be sent again. */
const leavingWaiting = async (partition: AcquiredPartition): Promise<void> => {
  const waiting = {
    tenantId: the.tenantIds.get('north')!,
    externalId: CANARY,
    sourceKey: [CANARY],
    kind: 'queued' as const,
    reason: 'contended' as const,
    missing: [],
    rejection: null,
    dueIn: 60,
  };
  await the.ledger.checkpoint(partition, await the.outcome(null, [], 'waiting', { waiting: [waiting] }));
};

it('removes a record from every table', async () => {
  await deliver([CANARY, 'a', 'b']);
  await run(leavingDeadLetters);
  await run(leavingWaiting);
  await run(() => Promise.resolve(), { input: { mapping: 'customers', externalIds: ['a', CANARY] } });
  await run(async ({ runId }) => {
    const { guards } = the.ledger;
    await guards.begin(runId, mappingId);
    const hold = { mapping: 'customers', cause: 'changed', records: 2, of: 3, limit: null } as const;
    await guards.putOnHold(runId, mappingId, hold, ['a', CANARY]);
  });
  await run((partition) => the.ledger.batches.doubt(partition, sentOf('c'), 0));
  await run((partition) => the.ledger.batches.doubt(partition, sentOf(CANARY), 0));
  const planRun = await run(() => Promise.resolve());
  const plan = await the.ledger.removals.open(planRun, mappingId, '{}');
  const tenantIds = [the.tenantIds.get('north')!, the.tenantIds.get('north')!];
  const next = { tenantId: tenantIds[0]!, externalId: CANARY };
  await the.ledger.removals.add(plan, { tenantIds, externalIds: [CANARY, 'a'] }, next);
  await the.ledger.removals.decide(plan, 'awaiting_approval', { records: 2, accepted: 3 });
  await run(
    async (partition) =>
      the.ledger.checkpoint(
        partition,
        await the.outcome(null, [], 'unchanged', { position: { cursor: null, key: [CANARY] } }),
      ),
    { input: { mapping: 'customers', afterKey: [CANARY], throughKey: [CANARY] } },
  );
  expect(await columnsWith(CANARY)).toEqual(FORGOTTEN);

  const { known } = await forget({ externalId: CANARY });
  await forget({ externalId: `${CANARY}-2` });

  expect(await columnsWith(CANARY)).toEqual([]);
  const ofMappings = { batches: 0, plans: 0, changedRows: 0, positions: 0 };
  expect(known).toEqual({ records: 1, waiting: 1, deadLetters: 1, removals: 1, runs: 4, references: 1, ...ofMappings });
  expect(await accepted()).toEqual(['north/a', 'north/b']);
  // The plan is still there for a person to decide on what is left of it.
  expect(await the.ledger.removals.awaitingApproval(sync)).toMatchObject([{ plan: plan.id, records: 1 }]);
  const [child] = await the.ledger.deadLetters.page(sync, {}, '0', 10);
  expect(child).toMatchObject({ externalId: 'order-1', missing: [{ schemaName: 'product', externalId: 'p-1' }] });
});

it('notes in the audit who forgot how much, and neither the record nor the tenant', async () => {
  await deliver([CANARY]);
  await forget({ externalId: CANARY, tenant: 'north' });

  const [entry] = await the.ledger.audit.latest({ sync, limit: 1 });
  expect(entry).toMatchObject({
    action: 'forgotten',
    actor: ANA,
    subject: { by: 'tenant and external id', records: 1 },
  });
  expect(JSON.stringify(entry)).not.toMatch(/canary|north/);
});

it('removes all records of a tenant, and none of another one', async () => {
  const ids = Array.from({ length: 300 }, (_, i) => `id-${i}`);
  await deliver(ids, 'north');
  await deliver(['x', 'y'], 'south');
  await run(leavingDeadLetters);

  const { known } = await forget({ tenant: 'north' });

  expect(known).toMatchObject({ records: 300, deadLetters: 2 });
  expect(await accepted()).toEqual(['south/x', 'south/y']);
});

it('forgets a record of one tenant only if that is named, and of one mapping only', async () => {
  await deliver([CANARY], 'north');
  await deliver([CANARY], 'south');

  await forget({ externalId: CANARY, tenant: 'south' });
  expect(await accepted()).toEqual([`north/${CANARY}`]);

  await forget({ externalId: CANARY, mappings: ['orders'] });
  expect(await accepted()).toEqual([`north/${CANARY}`]);
  await forget({ externalId: CANARY, mappings: ['customers'] });
  expect(await accepted()).toEqual([]);
});

describe('of a mapping as a whole', () => {
  const batch = (state: string, sentBefore: string) =>
    run(async (partition) => {
      const { batches } = await the.claim(partition, [record(CANARY, '2')]);
      await the.database.query(
        `UPDATE partner_sync.batches SET state = $2, intended_at = now() - CAST($3 AS interval) WHERE id = $1`,
        [batches[0]!.id, state, sentBefore],
      );
    });

  it('removes all that there is to do, so that it begins anew if it comes back', async () => {
    await deliver(['a', 'b'], 'north');
    await deliver(['a'], 'south');
    await run(leavingDeadLetters);
    await run(leavingWaiting);
    await batch('pending', '26 hours');
    const plan = await the.ledger.removals.open(await run(() => Promise.resolve()), mappingId, '{}');
    await the.ledger.removals.decide(plan, 'empty', { records: 0, accepted: 3 });
    await the.database.query(
      `INSERT INTO partner_sync.positions SELECT $1, '2026-01-01', 'at', max(id) FROM partner_sync.runs`,
      [mappingId],
    );
    await the.database.query(
      `INSERT INTO partner_sync.changed_rows (mapping_id, key_hash, key) VALUES ($1, '\\x00', ARRAY['a'])`,
      [mappingId],
    );
    const others = await the.ledger.ids.mappingId(sync, 'orders');
    await the.database.query(
      `INSERT INTO partner_sync.changed_rows (mapping_id, key_hash, key) VALUES ($1, '\\x00', ARRAY['a'])`,
      [others],
    );

    const { known, obstacles } = await forget({ mappings: ['customers'] });

    expect(obstacles).toEqual([]);
    const [deadLetters, one] = [3, { waiting: 1, batches: 1, plans: 1, changedRows: 1, positions: 1 }];
    expect(known).toEqual({ records: 3, deadLetters, ...one, removals: 0, runs: 0, references: 0 });
    const after = await the.ledger.forget.known(about({ mappings: ['customers'] }));
    expect(Object.values(after.known).filter((count) => count > 0)).toEqual([]);
    expect(await the.database.query('SELECT mapping_id FROM partner_sync.changed_rows')).toEqual([
      { mapping_id: others },
    ]);
    const [entry] = await the.ledger.audit.latest({ sync, limit: 1 });
    expect(entry).toMatchObject({ subject: { by: 'mapping', mappings: ['customers'], records: 3 } });
  });

  it.each(['intended', 'sent', 'pending'])(
    'waits for a batch that is %s only as long as the platform may still apply it',
    async (state) => {
      const left = await batch(state, '25 hours');
      expect((await forget({ mappings: ['customers'] })).obstacles).toMatchObject([
        { kind: 'batch', run: left, state },
      ]);

      await the.database.query(`UPDATE partner_sync.batches SET intended_at = intended_at - interval '1 hour'`);
      expect((await forget({ mappings: ['customers'] })).obstacles).toEqual([]);
      expect(
        await the.database.query('SELECT state, external_ids FROM partner_sync.batches WHERE mapping_id = $1', [
          mappingId,
        ]),
      ).toEqual([{ state: 'superseded', external_ids: null }]);
    },
  );
});

it('sends the record again with the next run that reads its row', async () => {
  await deliver([CANARY, 'a']);
  await forget({ externalId: CANARY });

  await run(async (partition) => {
    const { skipReasons } = await the.claim(partition, [record('a', '1'), record(CANARY, '1')]);
    expect(skipReasons).toEqual(['unchanged', undefined]);
  });
});

it('keeps every other record wherever a forgotten one was in its block', async () => {
  const ids = Array.from({ length: 400 }, (_, i) => `id-${String(i).padStart(3, '0')}`);
  await deliver(ids);
  await deliver(['short', 'an-id-of-another-length']);
  const blocks = await the.database.query<{ first: string; ids: number }>(
    `SELECT records::json->>'low' AS first, accepted AS ids FROM partner_sync.record_blocks WHERE mapping_id = $1 ORDER BY low`,
    [mappingId],
  );
  // The first, the second and the last record of each block, then a whole block, one by one.
  const forgotten = new Set<string>();
  for (const [i, { first, ids: count }] of blocks.entries()) {
    const start = first === '' ? 0 : ids.indexOf(first);
    if (start < 0) continue;
    const offsets = i === 2 ? Array.from({ length: count }, (_, at) => at) : [0, 1, count - 1];
    for (const offset of offsets) if (ids[start + offset] !== undefined) forgotten.add(ids[start + offset]!);
  }
  expect(blocks.length).toBeGreaterThan(4);
  expect(forgotten.size).toBeGreaterThan(blocks[2]!.ids + 6);

  for (const id of forgotten) expect((await forget({ externalId: id })).known.records).toBe(1);

  const left = ids.filter((id) => !forgotten.has(id));
  expect(await accepted()).toEqual([...left, 'short', 'an-id-of-another-length'].map((id) => `north/${id}`).sort());
  const all = await the.database.query<{ low: string; until: string | null; text: string }>(
    `SELECT records::json->>'low' AS low, records::json->>'until' AS until, records AS text FROM partner_sync.record_blocks
     WHERE mapping_id = $1 ORDER BY low`,
    [mappingId],
  );
  // Each block reaches up to the next one, from before the first record to behind the last.
  expect(all.map(({ low }) => low)).toEqual(['', ...all.slice(0, -1).map(({ until }) => until)]);
  expect(all.at(-1)!.until).toBeNull();
  expect([...forgotten].filter((id) => all.some(({ text }) => text.includes(id)))).toEqual([]);
  // New records find their place.
  await deliver([...forgotten]);
  expect(await accepted()).toHaveLength(402);
});

describe('forgets nothing', () => {
  const countsOf = async () => [await accepted(), (await the.ledger.deadLetters.page(sync, {}, '0', 10)).length];

  it('while a run of the sync is working', async () => {
    await deliver([CANARY]);
    const working = await run(leavingDeadLetters, { ends: false });
    const before = await countsOf();

    const { obstacles } = await forget({ externalId: CANARY });

    expect(obstacles).toMatchObject([{ kind: 'run', run: working, state: 'working' }]);
    expect(await countsOf()).toEqual(before);
    await the.ledger.runs.end(working, 'failed');
    expect((await forget({ externalId: CANARY })).obstacles).toEqual([]);
  });

  it.each(['intended', 'sent', 'pending'])('while the record is in a batch that is %s', async (state) => {
    await deliver([CANARY]);
    const left = await run(async (partition) => {
      const { batches } = await the.claim(partition, [record(CANARY, '2')]);
      await the.database.query('UPDATE partner_sync.batches SET state = $2 WHERE id = $1', [batches[0]!.id, state]);
    });
    const before = await countsOf();

    expect((await forget({ externalId: CANARY })).obstacles).toMatchObject([
      { kind: 'batch', run: left, state, count: 1 },
    ]);
    expect((await forget({ tenant: 'north' })).obstacles).toMatchObject([{ kind: 'batch', state }]);
    expect(await countsOf()).toEqual(before);
    // Another record is not in the way of it.
    expect((await forget({ externalId: 'other' })).obstacles).toEqual([]);
  });

  it('while the platform may still apply what was sent of the record', async () => {
    const left = await run((partition) => the.ledger.batches.doubt(partition, sentOf(CANARY), 60));

    expect((await forget({ externalId: CANARY })).obstacles).toMatchObject([
      { kind: 'batch', run: left, state: 'in doubt', count: 1 },
    ]);
    expect((await forget({ externalId: 'other' })).obstacles).toEqual([]);
  });

  it('if it is only asked what is known', async () => {
    await deliver([CANARY]);
    expect((await the.ledger.forget.known(about({ externalId: CANARY }))).known.records).toBe(1);
    expect(await accepted()).toEqual([`north/${CANARY}`]);
  });

  it('of a tenant that it does not know', async () => {
    await deliver([CANARY]);
    await run(leavingDeadLetters);
    const { known } = await forget({ tenant: 'nobody' });
    // Those of rows without a known tenant are nobody's.
    expect(known).toMatchObject({ records: 0, deadLetters: 0 });
    expect(await accepted()).toEqual([`north/${CANARY}`]);
  });
});
