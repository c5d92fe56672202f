/** Receipts page by page, of one tenant behind the other: each record once, none left out. */
import { expect, it } from 'vitest';
import type { MappedRecord } from '../../src/domain/record.js';
import { RecordList } from '../../src/domain/record-list.js';
import { FIRST_PLACE, type RecordPlace } from '../../src/state/receipts.js';
import { ledgerForTests, record } from './ledger-for-tests.js';

const the = ledgerForTests();
const { newRange, reading } = the;

/** Delivers records of as many tenants as they name; answers `tenant/id` of all in the ledger's order. */
async function delivered(records: readonly MappedRecord[]): Promise<string[]> {
  const names = [...new Set(records.map((r) => r.tenant))];
  const tenantIds = await the.ledger.catalog.tenantIds(names);
  const range = await newRange();
  const cut = (all: RecordList) => names.map((tenant) => all.filter((r) => r.tenant === tenant));
  const read = await reading();
  const { batches } = await the.ledger.claim(range, { ...read, records: RecordList.of(records), tenantIds, cut });
  await the.ledger.checkpoint(range, {
    reading: { kind: 'first', ...read },
    bulk: batches.map((b) => ({ tenantId: b.tenantId, column: 'accepted', sent: true, records: b.records })),
    settled: batches.map((b) => b.id!),
    ...{ records: [], held: [], waiting: [], deadLetters: [], ends: [], readTwice: 0, position: null, done: false },
  });
  return records.map((r) => `${tenantIds.get(r.tenant)!}/${r.externalId}`).sort();
}

async function pagesBetween(from: RecordPlace, until: RecordPlace | null): Promise<string[]> {
  const found: string[] = [];
  for (let next: RecordPlace | null = from; next !== null;) {
    const page = await the.ledger.receipts.page(the.mappingId, next, until);
    found.push(...page.receipts.map(({ tenantId, externalId }) => `${tenantId}/${externalId}`));
    next = page.next;
  }
  return found;
}

it('goes on with the next tenant where a page ends with the last record of one', async () => {
  // A tenant of one record fills a block by itself, so each page ends with a tenant.
  const all = await delivered(Array.from({ length: 450 }, (_, i) => record('a', '1', `tenant-${i}`)));

  expect((await pagesBetween(FIRST_PLACE, null)).sort()).toEqual(all);
  expect(await the.ledger.receipts.count(the.mappingId)).toBe(450);
});

it('parts the records of several tenants so that each is in one part', async () => {
  const ids = Array.from({ length: 300 }, (_, i) => `r${i}`);
  const all = await delivered(['north', 'south'].flatMap((tenant) => ids.map((id) => record(id, '1', tenant))));

  const cuts = await the.ledger.receipts.cuts(the.mappingId, 4);
  const parts: string[][] = [];
  for (const [i, from] of cuts.entries()) parts.push(await pagesBetween(from, cuts[i + 1] ?? null));

  expect(new Set(cuts.map((cut) => cut.tenantId)).size).toBe(2);
  expect(parts.every((part) => part.length > 0)).toBe(true);
  expect(parts.flat().sort()).toEqual(all);
});
