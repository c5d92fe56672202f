/** Checks in the sandbox's own database that no record is ever in two unfinished batches. */
import type { Shop } from './shop.js';

/** From now on the store remembers which record came in which batch. */
export const noteWhatComes = (shop: Shop): Promise<unknown> =>
  shop.store.query(`
    CREATE TABLE public.came (batch_id uuid, schema_id uuid, tenant_id text, external_id text);
    CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO public.came SELECT NEW.id, NEW.schema_id, NEW.tenant_id, coalesce(r ->> 'lineId', r ->> 'orderId', r ->> 'customerId')
        FROM jsonb_array_elements(NEW.payload::jsonb -> 'resources') r;
      RETURN NEW;
    END $$;
    CREATE TRIGGER note AFTER INSERT ON sandbox.batches FOR EACH ROW EXECUTE FUNCTION public.note();`);

/** Records that came in a second batch while the first was not completed yet. */
export const twiceAtOnce = (shop: Shop): Promise<object[]> =>
  shop.store.query(
    `SELECT external_id FROM public.came a JOIN public.came b USING (schema_id, tenant_id, external_id)
       JOIN sandbox.batches x ON x.id = a.batch_id JOIN sandbox.batches y ON y.id = b.batch_id
     WHERE x.sequence < y.sequence AND (x.completed_at IS NULL OR x.completed_at > y.created_at)`,
  );

/** Records that the ledger has in two open batches at this moment. */
export const twiceInLedger = (shop: Shop): Promise<object[]> =>
  shop.state.query(
    `SELECT id FROM (SELECT mapping_id, tenant_id, json_array_elements_text(external_ids) AS id FROM partner_sync.batches
       WHERE state IN ('intended', 'sent', 'pending')) o GROUP BY mapping_id, tenant_id, id HAVING count(*) > 1`,
  );
