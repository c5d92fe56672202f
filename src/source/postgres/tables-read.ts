/** Which tables a query reads, as the planner has it: views are taken apart, and functions are not looked into. */
import type { FeedTable } from '../../domain/source/feed-table.js';
import type { Session } from '../dialect.js';

/** A node of a plan, as far as it is looked at. */
interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly Schema?: string;
  readonly Plans?: readonly PlanNode[];
}

/** Partitions under the name of their table. */
const ROOTS_SQL = `
  SELECT DISTINCT rn.nspname, r.relname
  FROM json_to_recordset($1::json) AS t(schema text, name text)
    JOIN pg_namespace n ON n.nspname = t.schema
    JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = t.name
    JOIN pg_class r ON r.oid = coalesce(pg_partition_root(c.oid)::oid, c.oid)
    JOIN pg_namespace rn ON rn.oid = r.relnamespace
  ORDER BY 1, 2`;

/** The tables of the plan of `sql`. Throws what the driver does. */
export async function tablesReadByPostgres(session: Pick<Session, 'run'>, sql: string): Promise<readonly FeedTable[]> {
  const explained = await session.run({ sql: `EXPLAIN (VERBOSE, COSTS OFF, FORMAT JSON) ${sql}`, bindings: [] });
  const [{ Plan: plan }] = JSON.parse(explained.rows[0]![0]!) as [{ readonly Plan: PlanNode }];
  const named = relationsOf(plan);
  const { rows } = await session.run({ sql: ROOTS_SQL, bindings: [JSON.stringify(named)] });
  return rows.map(([schema, name]) => ({ schema: schema!, name: name! }));
}

function relationsOf({ 'Relation Name': name, Schema: schema = '', Plans = [] }: PlanNode): FeedTable[] {
  return [...(name === undefined ? [] : [{ schema, name }]), ...Plans.flatMap(relationsOf)];
}
