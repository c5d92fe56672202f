/** Two processes with one ledger: neither sends what is in an unfinished batch of the other. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { recordOf, RecordList } from '../../src/records/record-list.js';
import { openLedger, type Ledger } from '../../src/ledger/ledger.js';
import type { AcquiredPartition } from '../../src/ledger/runs/partitions.js';
import { createDatabase, type Database } from '../pipeline/shop.js';
import { seeded } from '../seeded.js';
import { newPartitionOf } from './new-partition.js';

const TENANTS = ['north', 'south', 'west'];
/** Of several lengths and scripts, since the ledger's order is no collation of PostgreSQL. */
const IDS = ['9', '10', '99', '100', 'a', 'B', 'aa', 'é', '日本', '😀', 'ab', 'Z9', 'zz'];

let database: Database;
let ledgers: readonly Ledger[];
beforeAll(async () => {
  database = await createDatabase();
  ledgers = [await openLedger(database.url), await openLedger(database.url)];
});
afterAll(async () => {
  await Promise.all(ledgers.map((ledger) => ledger.close()));
  await database.drop();
});

for (const seed of [1, 2, 3, 4])
  it(`withholds exactly the records that another process has in flight, wherever their keys are (seed ${seed})`, async () => {
    const random = seeded(seed);
    const some = <T>(all: readonly T[]): T[] => all.filter(() => random(5) === 0);
    const tenantIds = await ledgers[0]!.ids.tenantIds(TENANTS);
    const mappingId = await ledgers[0]!.ids.mappingId('shop', randomUUID());
    const partitions: AcquiredPartition[] = [];
    for (const ledger of ledgers) partitions.push(await newPartitionOf(ledger, mappingId));
    const keys = TENANTS.flatMap((tenant) => IDS.map((id) => ({ tenant, id })));
    const inFlight = new Map<string, { tenant: string; id: string }[]>();
    let [skipped, sent] = [0, 0];

    for (let round = 0; round < 60; round++) {
      const turn = round % 2;
      const ledger = ledgers[turn]!;
      const chunk = some(keys).sort(() => random(3) - 1);
      const [readSeqStart, readSeqEnd] = [await ledger.nextReadSeq(), await ledger.nextReadSeq()];
      const { batches, skipReasons } = await ledger.claim(partitions[turn]!, {
        readSeqStart,
        readSeqEnd,
        tenantIds,
        records: RecordList.of(
          chunk.map(({ tenant, id }) => recordOf(tenant, id, [id], JSON.stringify({ id, round }))),
        ),
        cut: (all) => TENANTS.map((tenant) => all.filter((r) => r.tenant === tenant)).filter((b) => b.length > 0),
      });

      const taken = new Set([...inFlight.values()].flat().map(({ tenant, id }) => `${tenant}/${id}`));
      const expected = chunk.map(({ tenant, id }) => (taken.has(`${tenant}/${id}`) ? 'contended' : undefined));
      expect([...skipReasons], `round ${round}`).toEqual(expected);
      skipped += expected.filter(Boolean).length;
      sent += expected.filter((e) => e === undefined).length;
      for (const { id, records } of batches)
        inFlight.set(
          id!,
          records.map((r) => ({ tenant: r.tenant, id: r.externalId })),
        );

      // Some of those in flight are settled, by the process that sent them or by the other one.
      const settled = some([...inFlight.keys()]);
      for (const id of settled) inFlight.delete(id);
      const result = { rowOutcomes: [], bulkOutcomes: [], sent: [], waiting: [], deadLetters: [], rowsReadTwice: 0 };
      await ledger.checkpoint(partitions[turn]!, {
        kind: 'retry',
        readSeqs: { readSeqStart, readSeqEnd },
        result: { ...result, batches: settled.map((id) => ({ id, pending: [] })) },
      });
    }
    expect(skipped).toBeGreaterThan(50);
    expect(sent).toBeGreaterThan(50);
  });
