/** What the ledger knows of records in many tenants: each is looked up, or the whole index is read, whichever is less. */
import { beforeEach, expect, it } from 'vitest';
import { openLedgerDatabase } from '../../src/ledger/database/connection.js';
import type { KnownRecord } from '../../src/ledger/known-records.js';
import { scanForIds } from '../../src/ledger/record-index/index.js';
import { ledgerForTests, record } from './ledger-for-tests.js';

const the = ledgerForTests();
const NAMES = Array.from({ length: 60 }, (_, i) => `t${i}`);
const IDS = ['a', 'b', 'c'];
let numbers: readonly number[];

/** Each tenant has records with these ids; one more of the first tenant waits, and one of the second is in flight. */
beforeEach(async () => {
  await the.ledger.ids.tenantIds(NAMES);
  numbers = NAMES.map((name) => the.tenantIds.get(name)!);
  const partition = await the.newPartition();
  await the.deliver(
    partition,
    NAMES.flatMap((name) => IDS.map((id) => record(id, `of ${name}`, name))),
  );
  const waiting = record('waits', '1', 't0');
  await the.ledger.checkpoint(
    partition,
    await the.outcome(null, [waiting], 'waiting', { waiting: [the.queued(waiting)] }),
  );
  await the.claim(await the.newPartition(), [record('a', 'newer', 't1')]);
});

const sorted = (records: readonly object[]): string[] => records.map((each) => JSON.stringify(each)).toSorted();

/** All that is known of these ids, as it must be found. */
const expected = (names: readonly string[], ids: readonly string[]): string[] =>
  sorted(
    names.flatMap((name) =>
      ids.flatMap((externalId) => {
        const isWaiting = name === 't0' && externalId === 'waits';
        if (!IDS.includes(externalId) && !isWaiting) return [];
        const { contentHash } = isWaiting ? { contentHash: undefined } : record(externalId, `of ${name}`, name);
        const isUndecided = isWaiting || (name === 't1' && externalId === 'a');
        return [{ tenantId: the.tenantIds.get(name)!, externalId, contentHash, isUndecided }];
      }),
    ),
  );

const unordered = (records: readonly KnownRecord[]): string[] =>
  sorted(records.map(({ tenantId, externalId, ...what }) => ({ tenantId, externalId, ...what })));

it.each([
  ['a few ids in a few tenants', NAMES.slice(0, 2), ['a', 'waits', 'nobody']],
  ['many ids in many tenants', NAMES, ['a', 'c', 'waits', ...Array.from({ length: 40 }, (_, i) => `nobody ${i}`)]],
  ['many ids in some of many tenants', NAMES.slice(1, 50), ['b', ...Array.from({ length: 40 }, (_, i) => `no ${i}`)]],
])('finds %s', async (_, names, ids) => {
  const tenants = names.map((name) => the.tenantIds.get(name)!);
  const found = await the.ledger.knownRecords.inTenants(the.mappingId, tenants, ids);
  expect(unordered(found)).toEqual(expected(names, ids));
});

it('finds nothing where nothing is asked for, or nothing is known', async () => {
  const { knownRecords } = the.ledger;
  expect(await knownRecords.inTenants(the.mappingId, numbers, [])).toEqual([]);
  expect(await knownRecords.inTenants(the.mappingId, [], ['a'])).toEqual([]);
  await the.newMapping();
  expect(await knownRecords.inTenants(the.mappingId, numbers, ['a'])).toEqual([]);
});

it('reads an index of several pages to its end', async () => {
  const partition = await the.newPartition();
  const many = Array.from({ length: 120_000 }, (_, i) => record(`id ${i}`, '1', 't3'));
  for (let from = 0; from < many.length; from += 10_000) await the.deliver(partition, many.slice(from, from + 10_000));
  const knex = openLedgerDatabase(the.database.url);
  try {
    const [blocks] = await the.database.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM partner_sync.record_blocks WHERE mapping_id = $1',
      [the.mappingId],
    );
    expect(blocks!.n).toBeGreaterThan(1000);
    const found: string[] = [];
    await scanForIds(
      knex,
      the.mappingId,
      new Set(many.map(({ externalId }) => externalId)),
      ({ externalId }) => void found.push(externalId),
    );
    expect(found.toSorted()).toEqual(many.map(({ externalId }) => externalId).toSorted());
  } finally {
    await knex.destroy();
  }
});
