/** Mode mirror: what becomes of a mark that the platform refuses. */
import { expect, it } from 'vitest';
import { removalLines } from '../../src/cli/output/removal-lines.js';
import { files, gone, mirror } from './mirrored-customers.js';
import { fill, NO_OPEN_ENDS, openEnds, shopForTest, SYNC } from './shop.js';
import { filesOf } from './shop-files.js';

it('makes a dead letter of a mark that the platform refuses, and retries it in the next mirror run', async () => {
  const shop = await shopForTest({ files: files('records: 10, percent: 100') });
  await fill(shop, 10);
  await shop.run({ mappings: ['customers'] });
  await shop.source.query('DELETE FROM shop.customers WHERE id IN (3, 7)');
  const refusal = { status: 422, body: JSON.stringify({ success: false, message: 'not this one' }) };
  shop.proxy.fail(({ upload, body }) =>
    upload && body.includes('"7"') ? { forward: false, answer: refusal } : undefined,
  );

  const report = await mirror(shop);

  expect(report).toMatchObject({ outcome: 'complete_with_dead_letters', total: { accepted: 1, deadLettered: 1 } });
  expect(await gone(shop)).toEqual(['3']);
  expect(removalLines(SYNC, report.removals)).toEqual([
    'customers: the rows of 2 of 10 records were found gone; 1 marked as `deletes` says, 1 rejected by the platform (dead letters).',
  ]);
  const deadLetters = async () =>
    (await (await shop.parts.ledger()).deadLetters.page(SYNC, {}, '0', 10)).map((l) => [l.externalId, l.code]);
  expect(await deadLetters()).toEqual([['7', 'platform_refused']]);

  shop.proxy.fail(undefined);
  // Both read rows by their keys, of which this record has none.
  expect(await shop.backfill({ replay: {} })).toMatchObject({ outcome: 'complete', total: { read: 0 } });
  await shop.run({ mappings: ['customers'], mode: 'full' });
  expect(await deadLetters()).toEqual([['7', 'platform_refused']]);
  await mirror(shop);
  expect(await gone(shop)).toEqual(['3', '7']);
  expect(await deadLetters()).toEqual([]);
});

it.each([
  { refusing: 'in the batch', answer: undefined },
  { refusing: 'the request', answer: { status: 422, body: JSON.stringify({ success: false, message: 'incomplete' }) } },
])(
  'has nothing to mark if the platform never took the record, and refuses the mark ($refusing)',
  async ({ answer }) => {
    // A mark alone is no whole record.
    const schema = filesOf({})['customer.schema.json']!.replace('"required":["customerId"]', '"required":["name"]');
    const shop = await shopForTest({ files: files('records: 10, percent: 100', { 'customer.schema.json': schema }) });
    await fill(shop, 10);
    const refusal = { status: 422, body: JSON.stringify({ success: false, message: 'not this one' }) };
    const refuse = (answers: typeof refusal | undefined) =>
      shop.proxy.fail(({ upload, body }) =>
        answers !== undefined && upload && body.includes('"7"') ? { forward: false, answer: answers } : undefined,
      );
    refuse(refusal);
    expect(await shop.run({ mappings: ['customers'] })).toMatchObject({ outcome: 'complete_with_dead_letters' });
    await shop.source.query('DELETE FROM shop.customers WHERE id IN (3, 7)');
    refuse(answer);

    expect(await mirror(shop)).toMatchObject({ outcome: 'complete' });

    expect(await gone(shop)).toEqual(['3']);
    expect(await shop.stored('customer', '7')).toBeNull();
    expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
    expect(await mirror(shop)).toMatchObject({ outcome: 'complete', removals: [{ records: 0 }] });
  },
);

it('closes the dead letter of a mark once the row is back', async () => {
  const shop = await shopForTest({ files: files('records: 10, percent: 100') });
  await fill(shop, 10);
  await shop.run({ mappings: ['customers'] });
  await shop.source.query('CREATE TABLE kept AS SELECT * FROM shop.customers WHERE id = 7');
  await shop.source.query('DELETE FROM shop.customers WHERE id = 7');
  const refusal = { status: 422, body: JSON.stringify({ success: false, message: 'not this one' }) };
  shop.proxy.fail(({ upload }) => (upload ? { forward: false, answer: refusal } : undefined));
  expect(await mirror(shop)).toMatchObject({ outcome: 'complete_with_dead_letters' });
  shop.proxy.fail(undefined);

  await shop.source.query('INSERT INTO shop.customers SELECT * FROM kept');
  expect(await shop.run({ mappings: ['customers'], mode: 'full' })).toMatchObject({ outcome: 'complete' });
});
