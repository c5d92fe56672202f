/** The real December data as a shop of two tenants, for tests of faults. */
import { readdirSync, readFileSync } from 'node:fs';
import { reconcileMapping } from '../../src/inspection/reconcile-mapping.js';
import { loadOnlineRetail } from '../../src/embedded/online-retail/load-shop.js';
import type { JsonObject } from '../../src/domain/values/json.js';
import type { Template } from '../databases.js';
import { shopForTest, SYNC, type Shop } from './shop.js';

const FOLDER = new URL('../../mappings/online-retail/', import.meta.url);

/** An invoice that takes back what another one sold. */
export const CANCELLED = 'C536379';

/** Every other customer belongs to the other tenant, with all invoices and their lines. */
const TENANTS = `
  ALTER TABLE shop.customers ADD COLUMN tenant_key text;
  ALTER TABLE shop.invoices ADD COLUMN tenant_key text;
  ALTER TABLE shop.invoice_lines ADD COLUMN tenant_key text;
  UPDATE shop.customers SET tenant_key = CASE WHEN customer_id % 2 = 0 THEN 'n' ELSE 's' END;
  UPDATE shop.invoices SET tenant_key = CASE WHEN coalesce(customer_id, 0) % 2 = 0 THEN 'n' ELSE 's' END;
  UPDATE shop.invoice_lines l SET tenant_key = i.tenant_key FROM shop.invoices i WHERE i.invoice_no = l.invoice_no;`;

const DECEMBER: Template = {
  name: 'december',
  async fill(source) {
    await loadOnlineRetail(source.url);
    await source.query(TENANTS);
  },
};

/** Every tenth invoice with its lines, and all customers; one that is cancelled is among them for sure. */
export const A_TENTH: Template = {
  name: 'december-tenth',
  async fill(source) {
    await DECEMBER.fill(source);
    await source.query(`
      CREATE TEMP TABLE kept AS SELECT invoice_no FROM shop.invoices
        WHERE invoice_no = '${CANCELLED}' OR hashtext(invoice_no) % 10 = 0;
      DELETE FROM shop.invoice_lines WHERE invoice_no NOT IN (SELECT invoice_no FROM kept);
      DELETE FROM shop.invoices WHERE invoice_no NOT IN (SELECT invoice_no FROM kept)`);
  },
};

function files(upload: object): Record<string, string> {
  const all = readdirSync(FOLDER).map((name) => [name, readFileSync(new URL(name, FOLDER), 'utf8')] as const);
  const sync = `source: { client: pg, connection: '\${env:SOURCE_URL}' }
tenant: { column: tenant_key, values: { n: north, s: south } }
upload: ${JSON.stringify(upload)}
`;
  return { ...Object.fromEntries(all), 'sync.yaml': sync };
}

export const retailForTest = (upload: object, part: 'all' | 'a tenth' = 'all'): Promise<Shop> =>
  shopForTest({ other: { files: files(upload), load: part === 'all' ? DECEMBER : A_TENTH } });

/** Records of each tenant, by schema: as the source has them and as the platform does. */
export async function byTenant(shop: Shop): Promise<{ source: object[]; platform: object[] }> {
  const source = await shop.source.query(
    `SELECT 'customer' AS schema, tenant_key AS tenant, count(*)::int AS n FROM shop.customers GROUP BY 2
     UNION ALL SELECT 'order_line', tenant_key, count(*)::int FROM shop.invoice_lines GROUP BY 2
     UNION ALL SELECT 'transactions', tenant_key, count(*)::int FROM shop.invoices GROUP BY 2 ORDER BY 1, 2`,
  );
  const platform = await shop.state.query(
    `SELECT s.name AS schema, left(r.tenant_id, 1) AS tenant, count(*)::int AS n FROM sandbox.resources r
       JOIN sandbox.schema_definitions s ON s.id = r.schema_id GROUP BY 1, 2 ORDER BY 1, 2`,
  );
  return { source, platform };
}

/** Differences between source and platform, record by record; the platform's store is read at once, not by requests. */
export async function differences(shop: Shop, mappings: readonly string[]): Promise<number> {
  const rows = await shop.state.query<{ schema: string; tenant: string; id: string; data: JsonObject }>(
    `SELECT s.name AS schema, r.tenant_id AS tenant, r.external_id AS id, r.data FROM sandbox.resources r
       JOIN sandbox.schema_definitions s ON s.id = r.schema_id`,
  );
  const stored = new Map(rows.map(({ schema, tenant, id, data }) => [`${schema}/${tenant}/${id}`, data]));
  const { ledger, platform } = await shop.parts.dependencies();
  const views: Parameters<typeof reconcileMapping>[0] = {
    ledger,
    platform: {
      findBatch: (...args) => platform.findBatch(...args),
      findResource: (schema, id, { tenant }) => {
        const data = stored.get(`${schema}/${tenant}/${id}`);
        return Promise.resolve(data === undefined ? null : { result: { resourceExternalId: id, data } });
      },
    },
  };
  const sync = await shop.parts.openSync(SYNC);
  let found = 0;
  for (const name of mappings) {
    const mapping = await sync.mapping(name);
    const { rows: all, equal, extra } = await reconcileMapping(views, sync, mapping, { readBack: 'all', seed: 'test' });
    found += all - equal + extra;
  }
  return found;
}
