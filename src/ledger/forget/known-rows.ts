/**
 * Where the ledger knows a record, the records of a tenant, or a mapping: each place as a condition in SQL, by which rows are
 * counted and then removed.
 *
 * Bindings: `mappings`, `tenant` and `id`; `tenant` or `id` is NULL if not meant, both for all of the mappings. `schemas`: the
 * schema definitions of the record's mappings; NULL for any.
 */

const OF_TENANT = '(CAST(:tenant AS int) IS NULL OR tenant_id = :tenant)';
const OF_MAPPINGS = 'mapping_id = ANY (CAST(:mappings AS int[]))';

/** Records without a final outcome. */
export const WAITING = `waiting WHERE ${OF_MAPPINGS} AND ${OF_TENANT}
  AND (CAST(:id AS text) IS NULL OR external_id = :id)`;

/** Dead letters. A row that had no external id yet is known by its key only, which mostly is the external id. */
export const DEAD_LETTERS = `dead_letters WHERE ${OF_MAPPINGS} AND ${OF_TENANT}
  AND (CAST(:id AS text) IS NULL OR external_id = :id OR (external_id IS NULL AND source_key = ARRAY[CAST(:id AS text)]))`;

/** Records in removal plans. */
export const REMOVALS = `removals WHERE plan_id IN (SELECT id FROM removal_plans WHERE ${OF_MAPPINGS})
  AND ${OF_TENANT} AND (CAST(:id AS text) IS NULL OR external_id = :id)`;

/** Batches on their way, or with pending records, that the record is in. */
export const OPEN_BATCHES = `batches WHERE ${OF_MAPPINGS} AND ${OF_TENANT} AND state IN ('intended', 'sent', 'pending')
  AND (CAST(:id AS text) IS NULL OR to_jsonb(external_ids) @> to_jsonb(CAST(:id AS text)))`;

/** Of these, those that the platform may still apply, if nobody asks it any more. Binding: `keptFor`, in seconds. */
export const KEPT_BATCHES = `${OPEN_BATCHES} AND intended_at > now() - :keptFor * interval '1 second'`;

/** Batches whose response was lost; those that are over contain external ids, too, until others are noted. */
export const DOUBTS = `doubts WHERE ${OF_MAPPINGS} AND ${OF_TENANT}
  AND (CAST(:id AS text) IS NULL OR to_jsonb(external_ids) @> to_jsonb(CAST(:id AS text)))`;

const NAMES_IT = `m->>'externalId' = :id
  AND (CAST(:schemas AS text[]) IS NULL OR m->>'schemaName' = ANY (CAST(:schemas AS text[])))`;

/** Dead letters of other records that name it as a missing parent. */
export const CHILDREN = `dead_letters WHERE missing IS NOT NULL AND mapping_id IN (SELECT id FROM mappings WHERE sync = :sync)
  AND EXISTS (SELECT FROM jsonb_array_elements(missing) AS m WHERE ${NAMES_IT})`;
/** Their missing parents without it. */
export const OTHER_PARENTS = `(SELECT jsonb_agg(m) FROM jsonb_array_elements(missing) AS m WHERE NOT (${NAMES_IT}))`;

/** Waiting records of other mappings that name it. They are kept: the platform would name it again. */
export const WAITING_CHILDREN = `waiting WHERE missing IS NOT NULL AND mapping_id IN (SELECT id FROM mappings WHERE sync = :sync)
  AND NOT (${OF_MAPPINGS} AND external_id = :id) AND EXISTS (SELECT FROM jsonb_array_elements(missing) AS m WHERE ${NAMES_IT})`;

/** Backfills that were asked for it. */
export const BACKFILLS = `runs WHERE sync = :sync AND kind = 'backfill'
  AND (CAST(:names AS text[]) IS NULL OR input->>'mapping' = ANY (CAST(:names AS text[])))
  AND (input->'externalIds' @> to_jsonb(CAST(:id AS text)) OR input->'afterKey' = to_jsonb(ARRAY[CAST(:id AS text)])
    OR input->'throughKey' = to_jsonb(ARRAY[CAST(:id AS text)]))`;
/** Their inputs without it. */
export const OTHER_INPUT = `CASE WHEN input->'externalIds' IS NOT NULL
  THEN jsonb_set(input, '{externalIds}', (input->'externalIds') - CAST(:id AS text)) ELSE input - 'afterKey' - 'throughKey' END`;

/** Partitions that were planned for it, or that ended with it. */
export const PARTITIONS = `partitions WHERE ${OF_MAPPINGS}
  AND (:id = ANY (external_ids) OR :id = ANY (resume_key) OR :id = ANY (after_key) OR :id = ANY (through_key))`;

/** Removal plans whose search stopped at it. */
export const PLANS = `removal_plans WHERE ${OF_MAPPINGS} AND (next_id = :id OR next_tenant = :tenant)`;

/** Removal plans that somebody has to approve, or that a run would go on with. */
export const OPEN_PLANS = `removal_plans WHERE ${OF_MAPPINGS} AND state NOT IN ('done', 'replaced')`;

/** Rows that a feed has named, and that are not delivered. */
export const CHANGED_ROWS = `changed_rows WHERE ${OF_MAPPINGS}`;

/** How far mappings were read, by a cursor or with a feed. */
export const POSITIONS = `positions WHERE ${OF_MAPPINGS}`;
export const FED_MAPPINGS = `fed_mappings WHERE ${OF_MAPPINGS}`;
