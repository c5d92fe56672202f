/** The record index: in whatever order outcomes arrive, each record is found in its last state. */
import type { Knex } from 'knex';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { recordOf, RecordList } from '../../src/records/record-list.js';
import { openLedgerDatabase } from '../../src/ledger/database/connection.js';
import { openLedger, type Ledger } from '../../src/ledger/ledger.js';
import { readRecords, type RecordEntry } from '../../src/ledger/record-index/index.js';
import { writeSentRecords } from '../../src/ledger/outcomes/sent-records.js';
import { createDatabase, type Database } from '../pipeline/shop.js';
import { seeded } from '../seeded.js';

let database: Database;
let ledger: Ledger;
let knex: Knex;
beforeAll(async () => {
  database = await createDatabase();
  ledger = await openLedger(database.url);
  knex = openLedgerDatabase(database.url);
});
afterAll(async () => {
  await Promise.all([ledger.close(), knex.destroy()]);
  await database.drop();
});

for (const seed of [1, 2, 3, 4])
  it(`finds the records of interleaved loads, and those that were loaded again meanwhile (seed ${seed})`, async () => {
    const random = seeded(seed);
    const mappingId = await ledger.ids.mappingId('shop', randomUUID());
    const tenants = await ledger.ids.tenantIds(['north', 'south']);
    const known = new Map<string, RecordEntry>();
    const idOf = (no: number): string => (seed % 2 === 0 ? String(no) : `C-${String(no).padStart(5, '0')}`);
    const all: { tenantId: number; externalId: string }[] = [];
    let nextReadSeq = 0;
    const write = async (tenant: string, ids: readonly string[]): Promise<void> => {
      const tenantId = tenants.get(tenant)!;
      const records = RecordList.of(ids.map((id) => recordOf(tenant, id, [id], JSON.stringify({ id, nextReadSeq }))));
      await knex.transaction((trx) =>
        writeSentRecords(
          trx,
          mappingId,
          { runId: '7', readSeq: String(++nextReadSeq) },
          [],
          [{ tenantId, outcome: 'accepted', sent: true, records }],
        ),
      );
      for (const { externalId, contentHash } of records) {
        if (!known.has(`${tenantId} ${externalId}`)) all.push({ tenantId, externalId });
        known.set(`${tenantId} ${externalId}`, { externalId, contentHash, readSeq: nextReadSeq, runId: 7 });
      }
    };

    // Three loads of either tenant, each in order, their chunks in any.
    const loads = [...tenants.keys()].flatMap((tenant) => [0, 1, 2].map((no) => ({ tenant, at: no * 1000 })));
    for (let chunks = 0; chunks < 40; chunks++) {
      const load = loads[random(loads.length)]!;
      const size = 1 + random(150);
      await write(
        load.tenant,
        Array.from({ length: size }, (_, i) => idOf(load.at + i)),
      );
      load.at += size;
      // Some that were there, and some between them and behind, as another run meets them.
      if (chunks % 4 === 0) {
        const again = new Set(Array.from({ length: 1 + random(30) }, () => idOf(random(3000))));
        await write(load.tenant, [...again]);
      }
    }

    const keys = { tenantIds: all.map((key) => key.tenantId), externalIds: all.map((key) => key.externalId) };
    const found = new Map<string, RecordEntry>();
    await readRecords(knex, mappingId, keys, (i, entry) =>
      found.set(`${keys.tenantIds[i]} ${entry.externalId}`, entry),
    );
    expect(found.size).toBeGreaterThan(1500);
    expect(found).toEqual(known);

    // No two blocks know one record, and none is larger than a row should be.
    const { rows } = await knex.raw<{ rows: { records: string }[] }>(
      `SELECT records FROM record_blocks WHERE mapping_id = ? ORDER BY tenant_id, low`,
      [mappingId],
    );
    const sizes = rows.map(({ records }) => (JSON.parse(records) as { sendings: [number][] }).sendings);
    const counts = sizes.map((sendings) => sendings.reduce((sum, [count]) => sum + count, 0));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(known.size);
    expect(Math.max(...counts)).toBeLessThanOrEqual(96);
  });
