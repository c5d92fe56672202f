/** Blocks of neighbouring records: whatever order their outcomes come in, each record is found as it was left. */
import type { Knex } from 'knex';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { recordOf, RecordList } from '../../src/domain/record-list.js';
import { openState } from '../../src/state/connection.js';
import { openLedger, type Ledger } from '../../src/state/ledger.js';
import { readRecords } from '../../src/state/record-blocks.js';
import type { RecordEntry } from '../../src/state/record-block.js';
import { writeOutcomes } from '../../src/state/record-outcomes.js';
import { createDatabase, type Database } from '../pipeline/shop.js';
import { seeded } from '../seeded.js';

let database: Database;
let ledger: Ledger;
let knex: Knex;
beforeAll(async () => {
  database = await createDatabase();
  ledger = await openLedger(database.url);
  knex = openState(database.url);
});
afterAll(async () => {
  await Promise.all([ledger.close(), knex.destroy()]);
  await database.drop();
});

for (const seed of [1, 2, 3, 4])
  it(`finds what slices beside each other have left, and what came again in their midst (seed ${seed})`, async () => {
    const random = seeded(seed);
    const mappingId = await ledger.catalog.mappingId('shop', randomUUID());
    const tenants = await ledger.catalog.tenantIds(['north', 'south']);
    const known = new Map<string, RecordEntry>();
    const idOf = (no: number): string => (seed % 2 === 0 ? String(no) : `C-${String(no).padStart(5, '0')}`);
    const all: { tenantId: number; externalId: string }[] = [];
    let stamp = 0;
    const write = async (tenant: string, ids: readonly string[]): Promise<void> => {
      const tenantId = tenants.get(tenant)!;
      const records = RecordList.of(ids.map((id) => recordOf(tenant, id, [id], JSON.stringify({ id, stamp }))));
      await knex.transaction((trx) =>
        writeOutcomes(
          trx,
          { mappingId, runId: '7' },
          String(++stamp),
          [],
          [{ tenantId, column: 'accepted', sent: true, records }],
        ),
      );
      for (const { externalId, contentHash } of records) {
        if (!known.has(`${tenantId} ${externalId}`)) all.push({ tenantId, externalId });
        known.set(`${tenantId} ${externalId}`, { externalId, contentHash, readStamp: stamp, runId: 7 });
      }
    };

    // Three slices of either tenant, each in order, their groups in any.
    const slices = [...tenants.keys()].flatMap((tenant) => [0, 1, 2].map((no) => ({ tenant, at: no * 1000 })));
    for (let groups = 0; groups < 40; groups++) {
      const slice = slices[random(slices.length)]!;
      const size = 1 + random(150);
      await write(
        slice.tenant,
        Array.from({ length: size }, (_, i) => idOf(slice.at + i)),
      );
      slice.at += size;
      // Some that were there, and some between them and behind, as another run meets them.
      if (groups % 4 === 0) {
        const again = new Set(Array.from({ length: 1 + random(30) }, () => idOf(random(3000))));
        await write(slice.tenant, [...again]);
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
