/** Dead letters in the ledger: many of one group, in statements of bounded size, and the books that count them. */
import { expect, it } from 'vitest';
import { LetterList } from '../../src/domain/letter-list.js';
import type { UnmappableRow } from '../../src/domain/record.js';
import { ledgerForTests, record } from './ledger-for-tests.js';

const the = ledgerForTests();
const { newRange, outcome, deliver } = the;
const COUNT = 5000;

const letterOf = (no: number): UnmappableRow => ({
  ...{ kind: 'unmappable', tenant: no % 2 === 0 ? 'north' : null, externalId: no % 3 === 0 ? null : `o"${no}\\` },
  ...{ sourceKey: [`o{${no}}`, String(no)], code: 'record_invalid', pointer: '/email', rule: 'format: email' },
  ...{ reason: 'not a valid email', shape: `text(${no}) aaa` },
});
const tenantIdOf = (tenant: string | null): number => (tenant === null ? 0 : the.tenantIds.get(tenant)!);
const unmapped = (letters: Iterable<UnmappableRow>) => ({ letters: LetterList.of(letters), tenantIdOf });

it('keeps every dead letter of a group as it is, and counts each for its tenant', async () => {
  const range = await newRange();
  const letters = Array.from({ length: COUNT }, (_, no) => letterOf(no));
  await the.ledger.checkpoint(range, await outcome(null, [], 'accepted', { unmapped: unmapped(letters) }));

  const rows = await the.database.query(
    `SELECT source_key, external_id, tenant_id, code, pointer, rule, reason, shape, times FROM partner_sync.dead_letters
     WHERE mapping_id = $1 ORDER BY id`,
    [the.mappingId],
  );
  expect(rows).toEqual(
    letters.map(({ sourceKey, externalId, tenant, code, pointer, rule, reason, shape }) => ({
      ...{ source_key: sourceKey, external_id: externalId, tenant_id: tenantIdOf(tenant) },
      ...{ code, pointer, rule, reason, shape, times: 1 },
    })),
  );
  const books = await the.database.query(
    'SELECT tenant_id, read::int, dead_lettered::int FROM partner_sync.books WHERE range_id = $1 ORDER BY tenant_id',
    [range.id],
  );
  const half = { read: COUNT / 2, dead_lettered: COUNT / 2 };
  expect(books).toEqual([
    { tenant_id: 0, ...half },
    { tenant_id: tenantIdOf('north'), ...half },
  ]);
});

it('writes so many in several statements of a size that is bounded', async () => {
  await the.database.query(`
    CREATE TABLE statements (letters bigint);
    CREATE FUNCTION count_letters() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN INSERT INTO public.statements SELECT count(*) FROM written; RETURN NULL; END';
    CREATE TRIGGER counted AFTER INSERT ON partner_sync.dead_letters REFERENCING NEW TABLE AS written
      FOR EACH STATEMENT EXECUTE FUNCTION count_letters()`);
  const letters = Array.from({ length: COUNT }, (_, no) => letterOf(no));
  await the.ledger.checkpoint(await newRange(), await outcome(null, [], 'accepted', { unmapped: unmapped(letters) }));
  const statements = await the.database.query('SELECT letters::int FROM statements');
  expect(statements.map((s) => s['letters'] as number)).toEqual([2000, 2000, 1000]);
});

it('counts how often a row has failed, and forgets it once its record is delivered', async () => {
  const one = { ...letterOf(2), sourceKey: ['a'] };
  const times = async () =>
    the.database.query('SELECT times, reason FROM partner_sync.dead_letters WHERE mapping_id = $1', [the.mappingId]);
  await the.ledger.checkpoint(await newRange(), await outcome(null, [], 'accepted', { unmapped: unmapped([one]) }));
  const changed = unmapped([{ ...one, reason: 'another' }]);
  await the.ledger.checkpoint(await newRange(), await outcome(null, [], 'accepted', { unmapped: changed }));
  expect(await times()).toEqual([{ times: 2, reason: 'another' }]);
  await deliver(await newRange(), [record('a', '1')]);
  expect(await times()).toEqual([]);
});
