/** Rows that retention deletes are found by index from wherever they are referred to. */
import { expect, it } from 'vitest';
import { ledgerForTests } from './ledger-for-tests.js';

const the = ledgerForTests();

it('has an index for each foreign key to rows that are deleted', async () => {
  const keys = await the.database.query<{ name: string; indexed: boolean }>(`
    SELECT c.conrelid::regclass || '.' || a.attname AS name, EXISTS (
      SELECT FROM pg_index i WHERE i.indrelid = c.conrelid AND i.indkey[0] = c.conkey[1]
        -- A partial one serves only if it leaves out nothing but NULL, which refers to nothing.
        AND (i.indpred IS NULL OR pg_get_expr(i.indpred, i.indrelid) = '(' || a.attname || ' IS NOT NULL)')) AS indexed
    FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
    WHERE c.contype = 'f' AND c.connamespace = 'partner_sync'::regnamespace
      AND c.confrelid::regclass::text IN ('partner_sync.runs', 'partner_sync.partitions', 'partner_sync.batches', 'partner_sync.removal_plans')
    ORDER BY 1`);

  expect(keys.length).toBeGreaterThanOrEqual(8);
  expect(keys.filter(({ indexed }) => !indexed)).toEqual([]);
});
