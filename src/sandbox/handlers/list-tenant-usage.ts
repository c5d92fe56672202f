/**
 * 4.1: lists the usage of each tenant, ranked by total sends, highest first by default.
 *
 * Every send can change the ranking, so all pages of a list count only the sends that existed when its first page was
 * read. Otherwise a tenant that overtakes another between two pages would appear twice or be skipped.
 */
import type { UsageRow } from '../../platform/contract/reports.js';
import { pageOf } from '../cursors.js';
import { dateRange } from '../date-range.js';
import type { Handler } from './handler.js';

/** What a cursor stores: the newest send that is counted, and the last row of the previous page. */
type Position = readonly [newest: number, totalSends: number, tenantId: string];

interface Row {
  readonly newest: string;
  readonly total: string;
  /** null in the single row that an empty page consists of. */
  readonly tenant_id: string | null;
  readonly external_id: string | null;
  readonly name: string;
  readonly emails: string;
  readonly sms: string;
  readonly sends: string;
  readonly automations: string;
  readonly numbers: string;
}

/**
 * The query for one direction. It lists the tenants that finished onboarding, have sent, have a broadcast, an active
 * automation or an SMS number (4.1).
 */
const queryFor = (direction: 'desc' | 'asc') => `
  with bound as (
    select coalesce($1::bigint, max(sequence), 0) as newest from sandbox.sends),
  sent as (
    select tenant_id,
           sum(messages) filter (where counts and channel = 'email') as emails,
           sum(messages) filter (where counts and channel = 'sms') as sms,
           bool_or(counts) as within
      from bound, sandbox.sends,
           lateral (select ($2::timestamptz is null or sent_at >= $2) and ($3::timestamptz is null or sent_at < $3)
                           as counts) range
     where sequence <= newest
     group by tenant_id),
  automated as (
    select tenant_id, count(*) filter (where status = any($7)) as active, bool_or(trigger_type = any($8)) as broadcast
      from sandbox.automations group by tenant_id),
  numbered as (
    select tenant_id, count(*) as numbers from sandbox.phone_numbers where sms group by tenant_id),
  usage as (
    select t.id collate "C" as tenant_id, t.external_id, t.name,
           coalesce(sent.emails, 0) as emails, coalesce(sent.sms, 0) as sms,
           coalesce(sent.emails, 0) + coalesce(sent.sms, 0) as sends,
           coalesce(automated.active, 0) as automations, coalesce(numbered.numbers, 0) as numbers
      from sandbox.tenants t
      left join sent on sent.tenant_id = t.id
      left join automated on automated.tenant_id = t.id
      left join numbered on numbered.tenant_id = t.id
     where t.onboarded_at is not null or (sent.tenant_id is not null and ($9 or sent.within)) or automated.broadcast or automated.active > 0
           or numbered.numbers > 0)
  select bound.newest, (select count(*) from usage) as total, page.*
    from bound
    left join (select * from usage
                where $4::bigint is null or sends ${direction === 'desc' ? '<' : '>'} $4 or (sends = $4 and tenant_id > $5)
                order by sends ${direction}, tenant_id limit $6) page on true
   order by page.sends ${direction}, page.tenant_id`;

const QUERIES = { most_first: queryFor('desc'), least_first: queryFor('asc') };

/**
 * Section 4.1. Sends are counted within the range of dates; automations and numbers are current. Refuses with `invalid`
 * for a date or a cursor that is not valid.
 */
export const listTenantUsage: Handler<'listTenantUsage'> = async ({ query }, { pool, cursors, settings }) => {
  const { startDate = null, endDate = null, limit = 25 } = query;
  const { from, before } = dateRange(query, settings.reportDates);
  const list = ['tenant usage', startDate, endDate];
  const { order, broadcastTriggers, activeStatuses, sentBefore } = settings.usage;
  const [newest, totalSends, tenantId] = cursors.read<Position>(list, query.cursor) ?? [null, null, null];
  const { rows } = await pool.query<Row>(QUERIES[order], [
    newest,
    from,
    before,
    totalSends,
    tenantId,
    limit + 1,
    activeStatuses,
    broadcastTriggers,
    sentBefore === 'listed',
  ]);
  const page = pageOf(
    rows.filter((row) => row.tenant_id !== null),
    limit,
    (last) => cursors.write(list, [Number(last.newest), Number(last.sends), last.tenant_id]),
  );
  return {
    message: 'usage of tenants',
    data: {
      results: page.rows.map(usageOf),
      pagination: { hasNextPage: page.hasNextPage, cursor: page.cursor, total: Number(rows[0]!.total) },
    },
  };
};

/** The usage row of section 2. PostgreSQL returns bigints as text. */
const usageOf = (row: Row): UsageRow => ({
  tenantId: row.tenant_id!,
  tenantExternalId: row.external_id,
  tenantName: row.name,
  emailsSent: Number(row.emails),
  smsSent: Number(row.sms),
  totalSends: Number(row.sends),
  activeAutomations: Number(row.automations),
  smsNumberCount: Number(row.numbers),
});
