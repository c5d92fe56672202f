/** Rows that reappear while a run marks those that are gone: the current row decides, whatever was stored before. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { removeVanished } from '../../src/delivery/removals/remove-vanished.js';
import { deletedRecords } from '../../src/mapping/compile/deleted-record.js';
import { keptFiles } from '../../src/mapping/kept-files.js';
import { idsIn } from './platform-proxy.js';
import { fill, shopForTest, SYNC, type Shop } from './shop.js';

const CUSTOMERS = `schema: customer
source: { table: shop.customers }
key: [id]
cursor: { column: updated_at, overlap: 0s }
deletes: { action: { set: { status: gone } }, hold: { records: 100, percent: 100 } }
fields: { customerId: id, name: name, status: { column: status, transforms: [{ values: { map: { A: active }, otherwise: reject } }] } }
`;

/** A mirror run that has found these records gone, and is to mark them now. */
async function found(shop: Shop, gone: readonly string[]) {
  const ledger = await shop.parts.ledger();
  const { spec, files } = await shop.parts.loadSync(SYNC);
  const { id: runId } = await ledger.runs.begin({
    sync: SYNC,
    kind: 'sync',
    mode: 'mirror',
    input: { sync: SYNC },
    mappingVersion: spec.version,
    files: keptFiles(files),
    workflowId: randomUUID(),
    firstExecutionRunId: randomUUID(),
    start: { trigger: 'other', by: null },
  });
  const customers = spec.mappings.find((m) => m.name === 'customers')!;
  const mappingId = await ledger.ids.mappingId(SYNC, 'customers');
  const plan = await ledger.removals.open(runId, mappingId, deletedRecords(customers).json('0'));
  const north = (await ledger.ids.tenantIds(['north'])).get('north')!;
  const keys = { tenantIds: gone.map(() => north), externalIds: gone };
  await ledger.removals.add(plan, keys, { tenantId: north, externalId: '' });
  await ledger.removals.decide(plan, 'due', { records: gone.length, accepted: 10 });
  return { runId, sync: SYNC, mapping: 'customers', among: 'all' } as const;
}

it('does not mark the record of a row that has reappeared since it was found gone', async () => {
  const shop = await shopForTest({ files: { 'customers.mapping.yaml': CUSTOMERS } });
  await fill(shop, 10);
  await shop.run({ mappings: ['customers'] });
  await shop.source.query('DELETE FROM shop.customers WHERE id = 7');
  shop.proxy.forget();

  const ref = await found(shop, ['3', '7']);
  await removeVanished(await shop.parts.dependencies(), ref, new AbortController().signal);

  expect(shop.proxy.requests.filter((r) => r.upload).flatMap((r) => idsIn(r, 'customerId'))).toEqual(['7']);
  expect(await shop.stored('customer', '3')).toMatchObject({ status: 'active' });
  expect(await shop.stored('customer', '7')).toMatchObject({ status: 'gone' });
});
