/** A ledger in a database of its own for one test file, a new mapping for each test, and short words for what is done to it. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { recordOf, RecordList } from '../../src/domain/record-list.js';
import type { MappedRecord } from '../../src/domain/record.js';
import type { Claimed } from '../../src/state/claims.js';
import type { Column, GroupOutcome } from '../../src/state/group-outcome.js';
import { openLedger, type Ledger } from '../../src/state/ledger.js';
import type { TakenRange } from '../../src/state/ranges.js';
import { createDatabase, type Database } from '../pipeline/shop.js';
import { newRangeOf } from './new-range.js';

export interface Reading {
  readonly before: string;
  readonly after: string;
}

export const record = (externalId: string, content: string, tenant = 'north'): MappedRecord =>
  recordOf(tenant, externalId, [externalId], JSON.stringify({ id: externalId, content }));

export function ledgerForTests() {
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

  return {
    get database() {
      return database;
    },
    get ledger() {
      return ledger;
    },
    get mappingId() {
      return mappingId;
    },
    get tenantIds() {
      return tenantIds;
    },
    ...{ newRange, reading, claim, outcome, deliver },
  };
}
