/** The customers of the tests' shop, whose records are marked as deleted by mirror runs once their rows are gone. */
import type { RunReport } from '../../src/domain/run/run.js';
import type { Shop, ShopSettings } from './shop.js';

export const customers = (deletes: string): string => `schema: customer
source: { table: shop.customers }
key: [id]
cursor: { column: updated_at, overlap: 0s }
deletes: ${deletes}
fields:
  customerId: id
  name: name
  email: email
  status: { column: status, transforms: [{ values: { map: { A: active }, otherwise: reject } }] }
`;
export const MARK = 'action: { set: { status: gone }, clear: [email] }';
/** Few records must be able to wait. */
export const files = (hold = 'records: 0, percent: 20', more: ShopSettings['files'] = {}) => ({
  'customers.mapping.yaml': customers(`{ ${MARK}, hold: { ${hold} } }`),
  ...more,
});

export const mirror = (shop: Shop, approve?: readonly string[]): Promise<RunReport> =>
  shop.run({ mode: 'mirror', mappings: ['customers'], ...(approve && { approve }) });
/** The external ids of the records that are marked. */
export const gone = async (shop: Shop): Promise<string[]> =>
  (
    await shop.store.query<{ external_id: string }>(
      `select r.external_id from sandbox.resources r where r.data->>'status' = 'gone' order by length(r.external_id), 1`,
    )
  ).map((row) => row.external_id);
