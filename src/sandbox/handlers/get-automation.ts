/** 4.13: reads an automation. A reputation automation is visible to the feature `reputation` only. */
import type { Automation } from '../../platform/contract/automations.js';
import { Refusal } from '../refusal.js';
import { unstorableText } from '../storable.js';
import type { Handler } from './handler.js';

/** A row of `sandbox.automations`; `content` has the fields without a column of their own. */
interface Row {
  readonly status: string;
  readonly automation_type: string;
  readonly trigger_type: string;
  readonly content: Partial<Automation>;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const QUERY = `
  select status, automation_type, trigger_type, content, created_at, updated_at from sandbox.automations
   where tenant_id = $1 and id = $2 and (automation_type <> 'managed_hidden' or $3 = 'reputation')`;

/**
 * Section 4.13. Refuses with `notFound` for an unknown automation, another tenant's, or a `managed_hidden` one without
 * `feature=reputation`.
 */
export const getAutomation: Handler<'getAutomation'> = async ({ params: { id }, query, tenant }, { pool }) => {
  const storable = unstorableText(id, 'id') === undefined;
  const { rows } = await pool.query<Row>(QUERY, [tenant.id, storable ? id : '', query.feature ?? 'engage']);
  const row = rows[0];
  // One response whether it is hidden, unknown or another tenant's, so that it reveals nothing.
  if (row === undefined) throw new Refusal('notFound', `no automation with the id ${JSON.stringify(id)}`);
  const data: Automation = {
    // Defaults; the stored content overrides them.
    includeSegmentIds: [],
    excludeSegmentIds: [],
    extraMergeFieldsInUse: [],
    derivedRevenue: 0,
    derivedOrders: 0,
    ...row.content,
    id,
    status: row.status,
    automationType: row.automation_type,
    triggerType: row.trigger_type,
    businessId: tenant.businessId,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
  return { message: 'automation', data };
};
