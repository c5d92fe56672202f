/** 4.16: lists voice call aggregates per tenant, ordered by tenant id. */
import type { VoiceAggregate } from '../../platform/contract/reports.js';
import { pageOf } from '../cursors.js';
import { dateRange } from '../date-range.js';
import type { Handler } from './handler.js';

interface Row {
  readonly total: string;
  /** null in the single row that an empty page consists of. */
  readonly tenant_id: string | null;
  readonly external_id: string | null;
  readonly name: string;
  readonly calls: string;
  readonly transferred: string;
  readonly seconds: string;
  readonly average: string;
  readonly cents: string;
  readonly positive: string;
  readonly negative: string;
  readonly neutral: string;
}

const QUERY = `
  with aggregates as (
    select t.id collate "C" as tenant_id, t.external_id, t.name,
           count(c.tenant_id) as calls,
           count(*) filter (where transferred) as transferred,
           coalesce(sum(duration_secs), 0) as seconds,
           coalesce(round(avg(duration_secs), 2), 0) as average,
           coalesce(sum(cost_cents), 0) as cents,
           count(*) filter (where sentiment = 'positive') as positive,
           count(*) filter (where sentiment = 'negative') as negative,
           count(*) filter (where sentiment = 'neutral') as neutral
      from sandbox.tenants t
      left join sandbox.calls c on c.tenant_id = t.id
           and ($2::timestamptz is null or started_at >= $2) and ($3::timestamptz is null or started_at < $3)
     where ($1::text is null or t.id = $1) and ($6 or c.tenant_id is not null)
     group by t.id)
  select n.total, page.*
    from (select count(*) as total from aggregates) n
    left join (select * from aggregates
                where $4::text is null or tenant_id > $4 order by tenant_id limit $5) page on true
   order by page.tenant_id`;

/**
 * Section 4.16. By default only tenants with a call in the range are listed; the tenant header limits the result to
 * one. Refuses with `invalid` for a date or a cursor that is not valid.
 */
export const listVoiceAggregates: Handler<'listVoiceAggregates'> = async (
  { query, tenant },
  { pool, cursors, settings },
) => {
  const { startDate = null, endDate = null, limit = 25 } = query;
  const { from, before } = dateRange(query, settings.reportDates);
  const list = ['voice aggregates', startDate, endDate, tenant?.id ?? null];
  const after = cursors.read<string>(list, query.cursor);
  const { rows } = await pool.query<Row>(QUERY, [
    tenant?.id ?? null,
    from,
    before,
    after,
    limit + 1,
    settings.voice.tenants === 'all',
  ]);
  const page = pageOf(
    rows.filter((row) => row.tenant_id !== null),
    limit,
    (last) => cursors.write(list, last.tenant_id),
  );
  return {
    message: 'aggregates of voice calls',
    data: {
      results: page.rows.map(aggregateOf),
      pagination: { hasNextPage: page.hasNextPage, cursor: page.cursor, total: Number(rows[0]!.total) },
    },
  };
};

/** The voice aggregate row of section 2: durations in seconds, costs in cents. */
const aggregateOf = (row: Row): VoiceAggregate => ({
  tenantExternalId: row.external_id,
  tenantName: row.name,
  totalCalls: Number(row.calls),
  transferredCount: Number(row.transferred),
  totalDurationSecs: Number(row.seconds),
  avgDurationSecs: Number(row.average),
  totalCostCents: Number(row.cents),
  sentimentPositive: Number(row.positive),
  sentimentNegative: Number(row.negative),
  sentimentNeutral: Number(row.neutral),
});
