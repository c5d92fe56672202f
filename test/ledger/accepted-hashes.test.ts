/** Accepted hashes page by page, one tenant after the other: each record exactly once. */
import { expect, it } from 'vitest';
import type { MappedRecord } from '../../src/domain/records/record.js';
import { RecordList } from '../../src/records/record-list.js';
import { FIRST_PLACE, type RecordPlace } from '../../src/ledger/record-key.js';
import type { BulkOutcome } from '../../src/ledger/outcomes/row-outcomes.js';
import { ledgerForTests, record } from './ledger-for-tests.js';

const the = ledgerForTests();
const { newPartition, reading, outcome } = the;

/** Delivers records of as many tenants as they name; answers `tenant/id` of all in the ledger's order. */
async function delivered(records: readonly MappedRecord[]): Promise<string[]> {
  const names = [...new Set(records.map((r) => r.tenant))];
  const tenantIds = await the.ledger.ids.tenantIds(names);
  const partition = await newPartition();
  const cut = (all: RecordList) => names.map((tenant) => all.filter((r) => r.tenant === tenant));
  const read = await reading();
  const { batches } = await the.ledger.claim(partition, { ...read, records: RecordList.of(records), tenantIds, cut });
  const bulkOutcomes = batches.map(({ tenantId, records }): BulkOutcome => ({
    outcome: 'accepted',
    tenantId,
    sent: true,
    records,
  }));
  const settled = batches.map((b) => ({ id: b.id!, pending: [] }));
  const parts = { readSeqs: read, bulkOutcomes, batches: settled };
  await the.ledger.checkpoint(partition, await outcome(null, [], 'accepted', parts));
  return records.map((r) => `${tenantIds.get(r.tenant)!}/${r.externalId}`).sort();
}

async function pagesBetween(from: RecordPlace, until: RecordPlace | null): Promise<string[]> {
  const found: string[] = [];
  let next: RecordPlace | null = from;
  while (next !== null) {
    const page = await the.ledger.acceptedHashes.page(the.mappingId, next, until);
    found.push(...page.acceptedHashes.map(({ tenantId, externalId }) => `${tenantId}/${externalId}`));
    next = page.next;
  }
  return found;
}

it('continues with the next tenant if a page ends with the last record of one', async () => {
  // A tenant of one record fills a block by itself, so each page ends with a tenant.
  const all = await delivered(Array.from({ length: 450 }, (_, i) => record('a', '1', `tenant-${i}`)));

  expect((await pagesBetween(FIRST_PLACE, null)).sort()).toEqual(all);
  const counts = await the.ledger.counts.statuses('shop');
  expect(counts.map(({ accepted }) => accepted)).toContain(450);
});

it('divides the records of several tenants so that each is in exactly one part', async () => {
  const ids = Array.from({ length: 300 }, (_, i) => `r${i}`);
  const all = await delivered(['north', 'south'].flatMap((tenant) => ids.map((id) => record(id, '1', tenant))));

  const cuts = await the.ledger.acceptedHashes.cuts(the.mappingId, 4);
  const parts: string[][] = [];
  for (const [i, from] of cuts.entries()) parts.push(await pagesBetween(from, cuts[i + 1] ?? null));

  expect(new Set(cuts.map((cut) => cut.tenantId)).size).toBe(2);
  expect(parts.every((part) => part.length > 0)).toBe(true);
  expect(parts.flat().sort()).toEqual(all);
});
