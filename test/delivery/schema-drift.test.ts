/** Looking for schema drift is tried again after a failure that may pass; what it has found must not be lost by then. */
import { expect, it } from 'vitest';
import { detectSchemaDrift } from '../../src/delivery/run/schema-drift.js';
import type { Dependencies } from '../../src/delivery/dependencies.js';
import { PartnerSyncError } from '../../src/domain/errors.js';
import { errorOf } from '../platform/stub-platform.js';
import { ledgerForTests } from '../ledger/ledger-for-tests.js';

const the = ledgerForTests();

const text = (name: string) => ({ name, type: 'text', databaseType: 'text', nullable: true });

it('reports the changes of all mappings, even if the source could not be reached for the last one at first', async () => {
  const { runId } = await the.newPartition();
  const mappings = ['customers', 'orders'];
  const ids = await Promise.all(mappings.map((name) => the.ledger.ids.mappingId('shop', name)));
  let columns = [text('id')];
  let isDown = false;
  const deps = {
    ledger: the.ledger,
    openSync: () =>
      Promise.resolve({
        spec: { name: 'shop', version: 'v1', mappings: [] },
        source: {
          describe: ({ table }: { table: string }) =>
            isDown && table === 'orders'
              ? Promise.reject(new PartnerSyncError('source_unreachable', 'gone for a moment'))
              : Promise.resolve(columns),
        },
        mapping: (name: string) =>
          Promise.resolve({
            mappingId: ids[mappings.indexOf(name)],
            plan: { relation: { table: name }, columns: ['id'] },
          }),
      }),
  } as unknown as Dependencies;
  const detect = () => detectSchemaDrift(deps, { runId, sync: 'shop', mappings, accept: false });
  expect(await detect()).toEqual({ skipped: [], notes: [] });

  columns = [text('id'), text('email')];
  isDown = true;
  expect((await errorOf(detect())).code).toBe('source_unreachable');
  isDown = false;

  expect((await detect()).notes).toEqual(
    mappings.map((mapping) => ({ mapping, message: `${mapping}: the column email (text) is new` })),
  );
  expect(await detect()).toEqual({ skipped: [], notes: [] });
});
