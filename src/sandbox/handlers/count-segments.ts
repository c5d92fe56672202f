/** 4.7: counts and lists the people that segments include and do not exclude. */
import type { Queryable } from '../database.js';
import { pageOf } from '../cursors.js';
import { Refusal } from '../refusal.js';
import type { ConditionGroup } from '../segments/condition.js';
import { unstorableText } from '../storable.js';
import { findRecipients, type Position, type RecipientRow } from './find-recipients.js';
import type { Handler } from './handler.js';

const DEFAULT_LIMIT = 100;

/**
 * Section 4.7. `count` covers all pages; `recipients` is one page, ordered by schema definition and external id.
 *
 * Refuses with `notFound` for an unknown segment or automation, and `invalid` for a search text that cannot be stored
 * or a foreign cursor.
 */
export const countSegments: Handler<'countSegments'> = async ({ body, tenant }, services) => {
  const { pool, schemas, cursors, now, settings } = services;
  const { search, filter = 'all', limit = DEFAULT_LIMIT, automationId } = body;
  if (search !== undefined && unstorableText(search, 'body/search') !== undefined)
    throw new Refusal('invalid', 'the request is not valid', [unstorableText(search, 'body/search')!]);
  const automation = await segmentsOfAutomation(pool, tenant.id, automationId);
  const alone = automationId !== undefined && settings.counting.automation === 'alone';
  const named = alone ? { include: [], exclude: [] } : { include: body.includeSegments, exclude: body.excludeSegments };
  const include = [...new Set([...(named.include ?? []), ...automation.include])];
  const exclude = [...new Set([...(named.exclude ?? []), ...automation.exclude])];
  const conditions = await conditionsOf(pool, tenant.id, [...include, ...exclude]);
  const list = ['segments/count', tenant.id, include, exclude, search ?? null, filter];
  const { count, rows } = await findRecipients(
    pool,
    {
      tenantId: tenant.id,
      include: include.map((id) => conditions.get(id)!),
      exclude: exclude.map((id) => conditions.get(id)!),
      search,
      filter,
      limit,
      after: cursors.read<Position>(list, body.cursor),
      now: now(),
    },
    await schemas.list(),
    settings,
  );
  const page = pageOf(rows, limit, (last) => cursors.write(list, [last.schema_id, last.external_id]));
  return {
    message: `${count} ${count === 1 ? 'recipient' : 'recipients'}`,
    data: {
      count,
      recipients: page.rows.map(recipientOf),
      pagination: { hasNextPage: page.hasNextPage, cursor: page.cursor, total: count },
    },
  };
};

/** Ids of segments to include and to exclude. */
interface SegmentIds {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/** The segments of the automation that `automationId` names; none without one. Refuses with `notFound`. */
async function segmentsOfAutomation(db: Queryable, tenantId: string, id: string | undefined): Promise<SegmentIds> {
  if (id === undefined) return { include: [], exclude: [] };
  const storable = unstorableText(id, 'id') === undefined;
  const { rows } = await db.query<{ content: { includeSegmentIds?: string[]; excludeSegmentIds?: string[] } }>(
    'select content from sandbox.automations where tenant_id = $1 and id = $2',
    [tenantId, storable ? id : ''],
  );
  if (rows[0] === undefined) throw new Refusal('notFound', `no automation with the id ${JSON.stringify(id)}`);
  const { includeSegmentIds = [], excludeSegmentIds = [] } = rows[0].content;
  return { include: includeSegmentIds, exclude: excludeSegmentIds };
}

/** Conditions by segment id. Another tenant's segment is as unknown as one that does not exist: both are `notFound`. */
async function conditionsOf(
  db: Queryable,
  tenantId: string,
  ids: readonly string[],
): Promise<Map<string, readonly ConditionGroup[]>> {
  const { rows } = await db.query<{ id: string; condition_groups: ConditionGroup[] }>(
    'select id, condition_groups from sandbox.segments where tenant_id = $1 and id = any($2)',
    [tenantId, ids.filter((id) => unstorableText(id, 'id') === undefined)],
  );
  const conditions = new Map(rows.map((row) => [row.id, row.condition_groups]));
  const unknown = ids.filter((id) => !conditions.has(id));
  if (unknown.length > 0)
    throw new Refusal(
      'notFound',
      `no segment with the id ${JSON.stringify(unknown[0])}`,
      unknown.map((id) => `unknown segment ${JSON.stringify(id)}`),
    );
  return conditions;
}

/** The recipient of section 2. */
const recipientOf = (row: RecipientRow) => ({
  id: row.id,
  externalId: row.external_id,
  firstName: row.first_name,
  lastName: row.last_name,
  email: row.email,
  phone: row.phone,
  emailOptedOut: row.email_opted_out,
  smsOptedOut: row.sms_opted_out,
});
