/** Every pair of platform choices occurs in some whole sync: undeliverable rows are reported, and fixing them completes it. */
import { expect, it } from 'vitest';
import { pushSchemas } from '../../src/schema-push/push-schemas.js';
import type { GivenSettings } from '../../src/sandbox/settings.js';
import { inPairs } from './pairs.js';
import { expirePending, fill, NO_OPEN_ENDS, openEnds, shopForTest, SYNC, type Shop } from './shop.js';

const FACTORS = {
  recordErrors: ['external_id', 'resource', 'index', 'unnamed', 'counted', 'none'],
  /** Words of which none is ours. */
  expired: ['{reason}', 'timed out'],
  missingParent: ['{reason}', 'not acceptable'],
  other: ['{reason}', 'validation failed'],
  wait: ['10m', '0s'],
  definitions: ['any', 'existing'],
  required: [[], ['description', 'pluralName']],
  errorShape: ['standard', 'alternative'],
  fieldNames: ['both', 'snake'],
  emptyFields: ['mixed', 'left_out'],
  completed: ['all_final', 'processed'],
  processed: ['final', 'with_pending'],
  children: ['at_once', 'at_check'],
  newer: ['wait_too', 'replaces'],
  validated: ['merged', 'sent'],
  withinUpload: [true, false],
  batchOrder: ['oldest_first', 'newest_first'],
  forms: [['id', 'object'], ['id']],
} as const;
type Choices = ReturnType<typeof inPairs<typeof FACTORS>>[number];

const settingsOf = (c: Choices): GivenSettings => ({
  failureMessages: { expired: c.expired, missingParent: c.missingParent, other: c.other },
  batchStatus: { recordErrors: c.recordErrors, completed: c.completed, processed: c.processed },
  schemas: { references: c.definitions },
  alsoRequired: { createSchemaDefinition: c.required },
  errorShape: c.errorShape,
  fieldNames: c.fieldNames,
  emptyFields: c.emptyFields,
  batchOrder: c.batchOrder,
  pending: { completed: c.children, newer: c.newer },
  records: { validated: c.validated, referencesWithinUpload: c.withinUpload, references: c.forms },
});

const ROWS = inPairs(FACTORS);

it('covers every pair of values of two choices', () => {
  const seen = new Set(
    ROWS.flatMap((row) => Object.entries(row).flatMap((a) => Object.entries(row).map((b) => JSON.stringify([a, b])))),
  );
  const choices = Object.entries(FACTORS).flatMap(([name, values]) => values.map((value) => [name, value] as const));
  const missed = choices.flatMap((a) =>
    choices.filter((b) => a[0] !== b[0] && !seen.has(JSON.stringify([a, b]))).map((b) => [a, b]),
  );
  expect(missed).toEqual([]);
});

const deadLetters = async (shop: Shop) =>
  (await (await shop.parts.ledger()).deadLetters.page(SYNC, {}, '0', 100)).map((l) => [
    ...[l.mapping, l.externalId, l.code],
  ]);

it.each(ROWS.map((row, i) => [i + 1, row] as const))(
  'delivers what it can, names what it cannot, and completes once that is fixed: platform %i',
  async (_no, choices) => {
    const described = (file: object) => JSON.stringify({ ...file, description: 'Of the shop', pluralName: 'many' });
    const shop = await shopForTest({
      pushed: false,
      sandbox: settingsOf(choices),
      wait: choices.wait,
      upload: { waitForPending: '2s', batchDeadline: '10s' },
    });
    for (const { schema } of (await shop.parts.openSync(SYNC)).spec.mappings)
      shop.write(`${schema.name}.schema.json`, described(schema));
    await pushSchemas(shop.parts, SYNC);
    await fill(shop, 6);
    await shop.source.query(`UPDATE shop.customers SET email = 'broken' WHERE id = 2`);
    await shop.source.query(`INSERT INTO shop.orders (no, customer_id, total) VALUES ('orphan', 4711, 1)`);

    await shop.run();
    await expirePending(shop);
    expect((await shop.run()).outcome).toBe('complete_with_dead_letters');
    expect(await deadLetters(shop)).toEqual(
      expect.arrayContaining([
        ['customers', '2', 'record_invalid'],
        ['orders', 'o2', 'parent_rejected'],
        ['orders', 'orphan', 'parent_missing'],
        ['lines', 'o2-1', 'parent_rejected'],
      ]),
    );
    expect(await deadLetters(shop)).toHaveLength(4);
    expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);

    await shop.source.query(
      `UPDATE shop.customers SET email = NULL, updated_at = clock_timestamp() WHERE id = 2;
       INSERT INTO shop.customers (id, name, status, updated_at) VALUES (4711, 'Late', 'A', clock_timestamp())`,
    );
    expect((await shop.run()).outcome).toBe('complete');
    expect(await deadLetters(shop)).toEqual([]);
    expect(await shop.differences()).toBe(0);
    expect(await openEnds(shop)).toEqual(NO_OPEN_ENDS);
  },
);
