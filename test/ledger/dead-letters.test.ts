/** Many dead letters of one chunk: each is kept and counted, in statements of bounded size. */
import { expect, it } from 'vitest';
import { recordOf } from '../../src/records/record-list.js';
import { FailedRowList } from '../../src/records/failed-row-list.js';
import type { FailedRow } from '../../src/domain/records/record.js';
import { ledgerForTests, record } from './ledger-for-tests.js';

const the = ledgerForTests();
const { newPartition, outcome, deliver } = the;
const COUNT = 5000;

const deadLetterOf = (no: number): FailedRow => ({
  kind: 'failed',
  tenant: no % 2 === 0 ? 'north' : null,
  externalId: no % 3 === 0 ? null : `o"${no}\\`,
  sourceKey: [`o{${no}}`, String(no)],
  code: 'record_invalid',
  pointer: '/email',
  rule: 'format: email',
  reason: 'not a valid email',
  shape: `text(${no}) aaa`,
});
const tenantIdOf = (tenant: string | null): number => (tenant === null ? 0 : the.tenantIds.get(tenant)!);
const inBulk = (rows: Iterable<FailedRow>) => ({
  bulkOutcomes: [{ outcome: 'deadLettered', failedRows: FailedRowList.of(rows), tenantIdOf } as const],
});

it('stores every dead letter of a chunk unchanged, and counts each for its tenant', async () => {
  const partition = await newPartition();
  const deadLetters = Array.from({ length: COUNT }, (_, no) => deadLetterOf(no));
  await the.ledger.checkpoint(partition, await outcome(null, [], 'accepted', inBulk(deadLetters)));

  const rows = await the.database.query(
    `SELECT source_key, external_id, tenant_id, code, pointer, rule, reason, shape, times FROM partner_sync.dead_letters
     WHERE mapping_id = $1 ORDER BY id`,
    [the.mappingId],
  );
  expect(rows).toEqual(
    deadLetters.map(({ sourceKey, externalId, tenant, code, pointer, rule, reason, shape }) => ({
      source_key: sourceKey,
      external_id: externalId,
      tenant_id: tenantIdOf(tenant),
      code,
      pointer,
      rule,
      reason,
      shape,
      times: 1,
    })),
  );
  const counts = await the.database.query(
    'SELECT tenant_id, read::int, dead_lettered::int FROM partner_sync.partition_counts WHERE partition_id = $1 ORDER BY tenant_id',
    [partition.id],
  );
  const half = { read: COUNT / 2, dead_lettered: COUNT / 2 };
  expect(counts).toEqual([
    { tenant_id: 0, ...half },
    { tenant_id: tenantIdOf('north'), ...half },
  ]);
});

it('writes many dead letters in several statements of bounded size', async () => {
  await the.database.query(`
    CREATE TABLE statements (dead_letters bigint);
    CREATE FUNCTION count_dead_letters() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN INSERT INTO public.statements SELECT count(*) FROM written; RETURN NULL; END';
    CREATE TRIGGER counted AFTER INSERT ON partner_sync.dead_letters REFERENCING NEW TABLE AS written
      FOR EACH STATEMENT EXECUTE FUNCTION count_dead_letters()`);
  const deadLetters = Array.from({ length: COUNT }, (_, no) => deadLetterOf(no));
  await the.ledger.checkpoint(await newPartition(), await outcome(null, [], 'accepted', inBulk(deadLetters)));
  const statements = await the.database.query('SELECT dead_letters::int FROM statements');
  expect(statements.map((s) => s['dead_letters'] as number)).toEqual([2000, 2000, 1000]);
});

it('counts how often a row has failed, and deletes its dead letter once its record is delivered', async () => {
  const one = { ...deadLetterOf(2), sourceKey: ['a'] };
  const times = async () =>
    the.database.query('SELECT times, reason FROM partner_sync.dead_letters WHERE mapping_id = $1', [the.mappingId]);
  await the.ledger.checkpoint(await newPartition(), await outcome(null, [], 'accepted', inBulk([one])));
  const changed = inBulk([{ ...one, reason: 'another' }]);
  await the.ledger.checkpoint(await newPartition(), await outcome(null, [], 'accepted', changed));
  expect(await times()).toEqual([{ times: 2, reason: 'another' }]);
  await deliver(await newPartition(), [record('a', '1')]);
  expect(await times()).toEqual([]);
});

it('leaves the dead letters of other rows, and of other mappings, when a record is delivered', async () => {
  const fails = async (...keys: string[]) => {
    const letters = keys.map((key) => ({ ...deadLetterOf(2), sourceKey: [key] }));
    await the.ledger.checkpoint(await newPartition(), await outcome(null, [], 'accepted', inBulk(letters)));
    return the.mappingId;
  };
  const other = await fails('a');
  await the.newMapping();
  const own = await fails('a', 'b');
  await deliver(await newPartition(), [record('a', '1')]);

  const left = await the.database.query(
    'SELECT mapping_id AS id, source_key AS key FROM partner_sync.dead_letters WHERE mapping_id = ANY ($1) ORDER BY id',
    [[other, own]],
  );
  expect(left).toEqual([
    { id: other, key: ['a'] },
    { id: own, key: ['b'] },
  ]);
});

it('closes the dead letter of a row that maps to another record by now, once that one waits', async () => {
  const lacking = {
    ...deadLetterOf(2),
    externalId: 'old',
    sourceKey: ['row'],
    missing: [{ schemaName: 'p', externalId: '1' }],
  };
  const open = async () =>
    (await the.ledger.deadLetters.keys(the.mappingId, {}, { after: '0', through: '999999', limit: 10 })).length;
  await the.ledger.checkpoint(await newPartition(), await outcome(null, [], 'accepted', inBulk([lacking])));
  const waits = async (externalId: string) => {
    const row = recordOf('north', externalId, ['row'], '{}');
    const waiting = [the.queued(row, { reason: 'lacks_parent' })];
    await the.ledger.checkpoint(await newPartition(), await outcome(null, [row], 'waiting', { waiting }));
  };

  await waits('old');
  expect(await open()).toBe(1);
  await waits('new');
  expect(await open()).toBe(0);
});

it('tells them apart by tenant, mapping and record, and those of children that lack a parent from others', async () => {
  const { deadLetters } = the.ledger;
  const missing = [{ schemaName: 'parent', externalId: '1' }];
  const letter = (tenant: string, externalId: string, more: Partial<FailedRow> = {}): FailedRow => ({
    ...deadLetterOf(1),
    ...{ tenant, externalId, sourceKey: [tenant, externalId], ...more },
  });
  const fail = async (...letters: FailedRow[]) =>
    the.ledger.checkpoint(await newPartition(), await outcome(null, [], 'accepted', inBulk(letters)));
  await fail(letter('north', 'elsewhere'), letter('north', 'bad'), letter('north', 'child', { missing }));
  const other = the.mappingId;
  await the.newMapping();
  await fail(
    letter('north', 'bad'),
    letter('north', 'child', { missing }),
    letter('south', 'waits', { missing }),
    letter('south', 'bad'),
  );
  const [north, south] = [tenantIdOf('north'), tenantIdOf('south')];
  const ids = ['bad', 'child', 'waits', 'elsewhere'];
  const keys = [north, south].flatMap((tenantId) => ids.map((externalId) => ({ tenantId, externalId })));

  const all = await deadLetters.among(the.mappingId, keys);
  expect([...all].toSorted()).toEqual([`${north}/bad`, `${north}/child`, `${south}/bad`, `${south}/waits`]);
  const lacking = await deadLetters.among(the.mappingId, keys, { lackingParents: true });
  expect([...lacking].toSorted()).toEqual([`${north}/child`, `${south}/waits`]);
  expect([...(await deadLetters.among(the.mappingId, keys.slice(0, 1)))]).toEqual([`${north}/bad`]);

  // A record waits, and others that differ from the one of a dead letter in their tenant, id or mapping alone.
  const wait = async (tenant: string, externalId: string) => {
    const row = recordOf(tenant, externalId, ['row', tenant, externalId], '{}');
    const waiting = [the.queued(row, { reason: 'lacks_parent' })];
    await the.ledger.checkpoint(await newPartition(), await outcome(null, [row], 'waiting', { waiting }));
  };
  await wait('south', 'waits');
  await wait('south', 'child');
  await wait('north', 'another');
  const inOwn = the.mappingId;
  const lackingNow = async (mapping: number) =>
    (await deadLetters.lackingParents(mapping, { after: '0', through: '999999999', limit: 10 })).map((found) =>
      found.sourceKey.join('/'),
    );
  expect(await lackingNow(inOwn)).toEqual(['north/child']);
  expect(await lackingNow(other)).toEqual(['north/child']);

  expect(
    await deadLetters.countRows(inOwn, [
      ['north', 'bad'],
      ['south', 'bad'],
      ['no', 'row'],
    ]),
  ).toBe(2);
  expect(await deadLetters.countRows(other, [['south', 'bad']])).toBe(0);
  const ofTenants = async (...tenants: string[]) =>
    (await deadLetters.keys(inOwn, { tenants }, { after: '0', through: '999999999', limit: 10 })).map(({ sourceKey }) =>
      sourceKey.join('/'),
    );
  expect(await ofTenants('north')).toEqual(['north/bad', 'north/child']);
  expect(await ofTenants('south')).toEqual(['south/waits', 'south/bad']);
  expect(await ofTenants('nobody')).toEqual([]);
});
