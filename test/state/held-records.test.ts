/** Two processes with a ledger each, one database: what the one has on its way, the other does not send. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { recordOf, RecordList } from '../../src/domain/record-list.js';
import { openLedger, type Ledger } from '../../src/state/ledger.js';
import type { TakenRange } from '../../src/state/ranges.js';
import { createDatabase, type Database } from '../pipeline/shop.js';
import { seeded } from '../seeded.js';
import { newRangeOf } from './new-range.js';

const TENANTS = ['north', 'south', 'west'];
/** Of several lengths and scripts: the ledger's order is none that PostgreSQL has for texts. */
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
  it(`holds back just the records that either process has on its way, wherever their keys lie (seed ${seed})`, async () => {
    const random = seeded(seed);
    const some = <T>(all: readonly T[]): T[] => all.filter(() => random(5) === 0);
    const tenantIds = await ledgers[0]!.catalog.tenantIds(TENANTS);
    const mappingId = await ledgers[0]!.catalog.mappingId('shop', randomUUID());
    const ranges: TakenRange[] = [];
    for (const ledger of ledgers) ranges.push(await newRangeOf(ledger, mappingId));
    const keys = TENANTS.flatMap((tenant) => IDS.map((id) => ({ tenant, id })));
    const underWay = new Map<string, { tenant: string; id: string }[]>();
    let [held, free] = [0, 0];

    for (let round = 0; round < 60; round++) {
      const turn = round % 2;
      const ledger = ledgers[turn]!;
      const group = some(keys).sort(() => random(3) - 1);
      const [before, after] = [await ledger.stamp(), await ledger.stamp()];
      const { batches, verdicts } = await ledger.claim(ranges[turn]!, {
        ...{ before, after, tenantIds },
        records: RecordList.of(
          group.map(({ tenant, id }) => recordOf(tenant, id, [id], JSON.stringify({ id, round }))),
        ),
        cut: (all) => TENANTS.map((tenant) => all.filter((r) => r.tenant === tenant)).filter((b) => b.length > 0),
      });

      const isHeld = new Set([...underWay.values()].flat().map(({ tenant, id }) => `${tenant}/${id}`));
      const expected = group.map(({ tenant, id }) => (isHeld.has(`${tenant}/${id}`) ? 'busy' : undefined));
      expect([...verdicts], `round ${round}`).toEqual(expected);
      held += expected.filter(Boolean).length;
      free += expected.filter((e) => e === undefined).length;
      for (const { id, records } of batches)
        underWay.set(
          id!,
          records.map((r) => ({ tenant: r.tenant, id: r.externalId })),
        );

      // Some of those on their way are settled, by the process that sent them or by the other one.
      const settled = some([...underWay.keys()]);
      for (const id of settled) underWay.delete(id);
      await ledger.checkpoint(ranges[turn]!, {
        reading: { kind: 'first', before, after },
        ...{ bulk: [], records: [], settled, held: [], waiting: [], deadLetters: [], ends: [], readTwice: 0 },
        ...{ position: null, done: false },
      });
    }
    expect(held).toBeGreaterThan(50);
    expect(free).toBeGreaterThan(50);
  });
