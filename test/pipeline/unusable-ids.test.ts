/** External ids that the ledger cannot look up or a URL cannot express: their rows become dead letters, and stop no others. */
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { explainRecord } from '../../src/inspection/explain-record.js';
import { previewMapping } from '../../src/inspection/preview-mapping.js';
import { NO_OPEN_ENDS, openEnds, shopForTest, SYNC, type Shop, type ShopSettings } from './shop.js';

/** So many characters that cannot be compressed. */
const random = (length: number): string => randomBytes(length).toString('base64url').slice(0, length);
const CJK = (length: number): string =>
  Array.from({ length }, () => String.fromCodePoint(0x4e00 + Math.floor(Math.random() * 0x5000))).join('');

const UNUSABLE = [random(50_000), random(1_301), CJK(900), '.', '..'];
/** Odd, and no worse for it. */
const USABLE = [
  random(1_300),
  CJK(860),
  '...',
  '%2e%2e',
  'a/../b',
  '../x',
  '\\',
  '?',
  '#',
  ' a ',
  '\t',
  '%',
  '.%2F',
  'ä😀',
];

const files = (options = ''): ShopSettings['files'] => ({
  'customers.mapping.yaml': `schema: customer
source: { table: shop.customers }
key: [id]
cursor: { column: updated_at, overlap: 0s }
fields: { customerId: name }
${options}`,
});

async function insert(shop: Shop, names: readonly string[]): Promise<void> {
  await shop.source.query(
    `INSERT INTO shop.customers (id, name) SELECT i, name FROM unnest($1::text[]) WITH ORDINALITY n(name, i)`,
    [names],
  );
}

const deadLetters = (shop: Shop) =>
  shop.state.query<{ key: string; code: string; rule: string; external_id: string | null }>(
    `SELECT source_key[1] AS key, code, rule, external_id FROM partner_sync.dead_letters ORDER BY source_key[1]::int`,
  );

it.each(['full', 'off'])(
  'delivers rows with usable ids, and the others once they are fixed (ledger: %s)',
  async (kept) => {
    // The sandbox takes 512 characters, so the longest ids are its own to refuse.
    const shop = await shopForTest({ files: files(`options: { ledger: ${kept} }`) });
    await insert(shop, [...UNUSABLE, ...USABLE]);

    const report = await shop.run({ mappings: ['customers'] });

    expect(report).toMatchObject({
      outcome: 'complete_with_dead_letters',
      total: { read: UNUSABLE.length + USABLE.length, accepted: USABLE.length - 2, deadLettered: UNUSABLE.length + 2 },
    });
    const found = await deadLetters(shop);
    expect(found.slice(0, UNUSABLE.length)).toMatchObject([
      { key: '1', code: 'external_id_unusable', rule: 'external id: 1300', external_id: null },
      { key: '2', code: 'external_id_unusable', rule: 'external id: 1300' },
      { key: '3', code: 'external_id_unusable', rule: 'external id: ledger' },
      { key: '4', code: 'external_id_unusable', rule: 'external id', external_id: '.' },
      { key: '5', code: 'external_id_unusable', rule: 'external id', external_id: '..' },
    ]);
    expect(found.slice(UNUSABLE.length)).toMatchObject([
      { key: '6', code: 'platform_refused', external_id: USABLE[0] },
      { key: '7', code: 'platform_refused', external_id: USABLE[1] },
    ]);
    for (const id of USABLE.slice(2)) expect(await shop.stored('customer', id)).toMatchObject({ customerId: id });
    // Every one is read back by its address.
    expect(await shop.reconcile('customers')).toMatchObject({ equal: USABLE.length - 2 });

    await shop.source.query(
      `UPDATE shop.customers SET name = 'fixed ' || id, updated_at = clock_timestamp() WHERE id <= 7`,
    );
    expect(await shop.run({ mappings: ['customers'] })).toMatchObject({ outcome: 'complete' });
    expect(await deadLetters(shop)).toEqual([]);
    expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
  },
);

it("reports unusable ids before a run, and respects the platform's limit if that is set", async () => {
  const shop = await shopForTest({ files: files(), upload: { longestExternalId: 20 } });
  await insert(shop, ['ok', random(21), '..']);

  const sync = await shop.parts.openSync(SYNC);
  const mapping = await sync.mapping('customers');
  const views = await shop.parts.dependencies();
  const options = { mode: 'full', rows: 10, examples: 0, ledger: null, platform: null } as const;
  const { failures } = await previewMapping(sync, mapping, options);
  expect(failures.map(({ code, reason }) => [code, reason])).toEqual([
    ['external_id_unusable', 'longer than 20 characters, the most for an external id'],
    ['external_id_unusable', 'is "." or "..", which in a URL means a relative path'],
  ]);
  const explained = await explainRecord(views, sync, mapping, '..', { showValues: false });
  expect(explained.records[0]).toMatchObject({
    row: { unmappable: { reason: 'is "." or "..", which in a URL means a relative path' } },
    platform: { kind: 'unknown', error: expect.stringContaining('must not be empty') as string },
  });

  expect(await shop.run({ mappings: ['customers'] })).toMatchObject({
    outcome: 'complete_with_dead_letters',
    total: { accepted: 1, deadLettered: 2 },
  });
});

it('keeps the dead letters of rows whose keys are too long for an index', async () => {
  const shop = await shopForTest({
    files: {
      'customers.mapping.yaml': `schema: customer
source: { query: "select * from shop.customers" }
key: [name]
fields: { customerId: { column: id }, email: email }
`,
    },
  });
  await insert(shop, [random(9_000), random(9_000), 'short']);
  await shop.source.query(`UPDATE shop.customers SET email = 'no address' WHERE id = 1`);

  expect(await shop.run({ mappings: ['customers'] })).toMatchObject({ total: { accepted: 2, deadLettered: 1 } });
  expect(await shop.state.query('SELECT code FROM partner_sync.dead_letters')).toEqual([{ code: 'record_invalid' }]);
  await shop.source.query(`UPDATE shop.customers SET email = 'a@example.org' WHERE id = 1`);
  expect(await shop.run({ mappings: ['customers'] })).toMatchObject({ outcome: 'complete' });
  expect(await shop.state.query('SELECT code FROM partner_sync.dead_letters')).toEqual([]);
});

it('ends a run at once, and frees its lease, if the ledger would refuse a statement again', async () => {
  const shop = await shopForTest({ files: files() });
  await insert(shop, ['one', 'two']);
  await shop.state.query(
    `CREATE FUNCTION too_long() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'too long' USING ERRCODE = '54000'; END $$`,
  );
  await shop.state.query(
    'CREATE TRIGGER too_long BEFORE INSERT ON partner_sync.record_blocks FOR EACH ROW EXECUTE FUNCTION too_long()',
  );

  const failed: unknown = await shop.run({ mappings: ['customers'] }).catch((error: unknown) => error);
  expect((failed as { cause: unknown }).cause).toMatchObject({
    type: 'state_refused',
    message: "the ledger's database rejected a statement; retrying would not help (SQLSTATE 54000)",
  });
  expect(await shop.state.query('SELECT sync FROM partner_sync.sync_leases')).toEqual([]);

  await shop.state.query('DROP TRIGGER too_long ON partner_sync.record_blocks');
  expect(await shop.run({ mappings: ['customers'] })).toMatchObject({ outcome: 'complete' });
  expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
  expect(await shop.reconcile('customers')).toMatchObject({ rows: 2, equal: 2 });
});
