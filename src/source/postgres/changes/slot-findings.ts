/**
 * What speaks against a slot for certain tables, read from the catalogue before anything is created: with a publication of
 * key columns, a table whose key is another one refuses the updates and deletions of the partner's own application.
 */
import type { FeedLimit, FeedTable } from '../../../domain/source/change-feed.js';
import type { FeedFinding, FeedFindingKind, PlannedTable } from '../../../domain/source/feed-installation.js';
import { formatBytes } from '../../../domain/values/quantity.js';
import type { Session } from '../../dialect.js';
import { quotedName, quotedTable } from './quoted-names.js';

const OLDEST_VERSION = 12;
const PARTITIONED_SINCE = 13;

const SERVER_SQL = `
  SELECT json_build_object(
    'version', current_setting('server_version_num')::int / 10000,
    'standby', pg_is_in_recovery(),
    'walLevel', current_setting('wal_level'),
    'freeSlots', current_setting('max_replication_slots')::int - (SELECT count(*) FROM pg_replication_slots),
    'keepBytes', (SELECT CASE setting WHEN '-1' THEN -1 ELSE setting::float8 * 1048576 END FROM pg_settings
      WHERE name = 'max_slot_wal_keep_size'),
    'idleLimit', current_setting('idle_replication_slot_timeout', true))`;

interface ServerFacts {
  readonly version: number;
  readonly standby: boolean;
  readonly walLevel: string;
  readonly freeSlots: number;
  /** Since 13; -1 for no limit. */
  readonly keepBytes: number | null;
  /** Since 18; 0 for no limit. */
  readonly idleLimit: string | null;
}

const indexColumns = (which: string): string => `
  (SELECT json_agg(attname ORDER BY place)
   FROM pg_index x CROSS JOIN LATERAL unnest(indkey::int2[]) WITH ORDINALITY AS k(attnum, place)
     JOIN pg_attribute a ON a.attrelid = indrelid AND a.attnum = k.attnum
   WHERE indrelid = c.oid AND place <= indnkeyatts AND ${which})`;

/** The tables of the list $1 and all their partitions. */
const TABLES_SQL = `
  SELECT json_build_object(
    'index', w.index, 'isPartition', p.relid <> root.oid,
    'schema', cn.nspname, 'name', c.relname, 'kind', c.relkind, 'persistence', c.relpersistence,
    'identity', c.relreplident,
    'hasChildren', c.relkind = 'r' AND EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid),
    'primaryKey', ${indexColumns('indisprimary')},
    'identityKey', ${indexColumns('indisreplident')},
    'converted', (SELECT coalesce(json_agg(attname), '[]') FROM pg_attribute a JOIN pg_type t ON t.oid = atttypid
      WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped
        AND (typcategory = 'A' OR 'money'::regtype IN (t.oid, typbasetype))))
  FROM json_to_recordset($1::json) AS w(index int, schema text, name text)
    JOIN pg_namespace n ON n.nspname = w.schema
    JOIN pg_class root ON root.relnamespace = n.oid AND root.relname = w.name
    CROSS JOIN LATERAL (SELECT root.oid AS relid UNION SELECT relid FROM pg_partition_tree(root.oid)) p
    JOIN pg_class c ON c.oid = p.relid
    JOIN pg_namespace cn ON cn.oid = c.relnamespace
  ORDER BY w.index, p.relid <> root.oid, cn.nspname, c.relname`;

interface TableFacts extends FeedTable {
  readonly index: number;
  readonly isPartition: boolean;
  readonly kind: string;
  readonly persistence: string;
  readonly identity: string;
  readonly hasChildren: boolean;
  readonly primaryKey: readonly string[] | null;
  readonly identityKey: readonly string[] | null;
  /** Columns that a page converts, and a slot does not. */
  readonly converted: readonly string[];
}

/** What the catalogue says of tables that a slot is to report. */
export interface SlotProblems {
  /** Everything that speaks against it; first what is about the server. */
  readonly findings: readonly FeedFinding[];
  /** The tables with the columns that a publication has to have: those by which they identify their rows, as far as these suffice. */
  readonly published: readonly PlannedTable[];
}

/** Throws what the driver does. */
export async function findSlotProblems(
  run: Session['run'],
  tables: readonly PlannedTable[],
  limit: FeedLimit | null = null,
): Promise<SlotProblems> {
  const asked = await run({ sql: SERVER_SQL, bindings: [] });
  const server = JSON.parse(asked.rows[0]![0]!) as ServerFacts;
  const list = tables.map(({ table }, index) => ({ index, ...table }));
  const { rows } = await run({ sql: TABLES_SQL, bindings: [JSON.stringify(list)] });
  const facts = rows.map(([json]) => JSON.parse(json!) as TableFacts);
  const perTable = tables.map((planned, index) =>
    tableProblems(
      facts.filter((each) => each.index === index),
      planned,
      server,
    ),
  );
  return {
    findings: [
      ...serverFindings(server),
      ...limitFindings(server, limit),
      ...perTable.flatMap(({ findings }) => findings),
    ],
    published: perTable.map(({ published }) => published),
  };
}

function tableProblems(
  [root, ...partitions]: readonly TableFacts[],
  planned: PlannedTable,
  server: ServerFacts,
): { readonly findings: FeedFinding[]; readonly published: PlannedTable } {
  if (root === undefined) {
    const text = 'there is no such table, or none that this account can see';
    return { findings: [blocking('table-missing', planned, planned.table, text)], published: planned };
  }
  const identity = identityColumns(root);
  const isMore = identity !== null && identity.length > planned.key.length && includesAll(identity, planned.key);
  const published = isMore ? { ...planned, key: identity } : planned;
  const findings = [root, ...partitions].flatMap((each) => tableFindings(each, published, server));
  return { findings: findings.map((finding) => ({ ...finding, planned })), published };
}

/** The columns by which the table identifies its rows; null if it does not do so by a key. */
const identityColumns = ({ identity, primaryKey, identityKey }: TableFacts): readonly string[] | null =>
  identity === 'd' ? primaryKey : identity === 'i' ? identityKey : null;

function serverFindings({ version, standby, walLevel, freeSlots, idleLimit }: ServerFacts): FeedFinding[] {
  const findings: FeedFinding[] = [];
  if (version < OLDEST_VERSION)
    findings.push(
      blocking('server-version', null, null, `the server is PostgreSQL ${version}; 12 is the oldest that is supported`),
    );
  if (standby) findings.push(blocking('standby', null, null, 'the server is a standby; a slot is made on the primary'));
  if (walLevel !== 'logical')
    findings.push(
      blocking(
        'wal-level',
        null,
        null,
        `wal_level is ${walLevel}; logical is needed, and a restart of the server for it`,
        'ALTER SYSTEM SET wal_level = logical',
      ),
    );
  if (freeSlots < 1)
    findings.push(
      blocking('no-free-slot', null, null, 'all of max_replication_slots are in use; raise it, and restart the server'),
    );
  if (idleLimit !== null && idleLimit !== '0')
    findings.push({
      kind: 'idle-limit',
      planned: null,
      table: null,
      blocks: false,
      text: `idle_replication_slot_timeout is ${idleLimit}: the server gives the slot up if nobody reads it for so long`,
      fix: null,
    });
  return findings;
}

/** How much of its log the server keeps for a slot that nobody reads, and how much the files say that it may. */
function limitFindings({ keepBytes }: ServerFacts, limit: FeedLimit | null): FeedFinding[] {
  const toKnow = (kind: FeedFindingKind, text: string): FeedFinding[] => [
    { kind, planned: null, table: null, blocks: false, text, fix: null },
  ];
  if (keepBytes !== null && keepBytes >= 0)
    return limit === null || limit.maxBytes < keepBytes
      ? []
      : toKnow(
          'limit-too-high',
          `changes.maxWal is ${formatBytes(limit.maxBytes)}, and the server gives the slot up beyond max_slot_wal_keep_size, ${formatBytes(keepBytes)}: nobody would be told before`,
        );
  if (limit !== null) return [];
  return toKnow(
    'log-unlimited',
    keepBytes === null
      ? "PostgreSQL 12 cannot limit how much it keeps for a slot: while nobody reads it, the server's disk fills; set changes.maxWal"
      : "max_slot_wal_keep_size is -1: while nobody reads the slot, the server's disk fills; set it to what the disk can spare, or changes.maxWal to less",
  );
}

function tableFindings(facts: TableFacts, planned: PlannedTable, { version }: ServerFacts): FeedFinding[] {
  const table: FeedTable = { schema: facts.schema, name: facts.name };
  const { key } = planned;
  const blocks = (kind: FeedFindingKind, text: string, fix?: string): FeedFinding =>
    blocking(kind, planned, table, text, fix);
  if (!facts.isPartition) {
    if (facts.kind !== 'r' && facts.kind !== 'p')
      return [blocks('not-publishable', 'it is no table; name in changes.tables those that it reads')];
    if (facts.persistence !== 'p')
      return [blocks('not-publishable', 'it is not logged', `ALTER TABLE ${quotedTable(table)} SET LOGGED`)];
    if (facts.kind === 'p' && version < PARTITIONED_SINCE)
      return [blocks('not-publishable', 'it is partitioned, which a publication needs PostgreSQL 13 for')];
    if (facts.hasChildren)
      return [blocks('children', 'other tables inherit from it, whose rows are reported under their own names')];
    const converted = facts.converted.filter((name) => key.includes(name));
    if (converted.length > 0)
      return [
        blocks('key-type', `${converted.join(', ')}: an array or money has another text in a slot than in a query`),
      ];
  }
  const finding = identityFinding(facts, planned, table);
  return finding === null ? [] : [finding];
}

/** Whether the table identifies its rows by exactly these columns. */
function identityFinding(facts: TableFacts, planned: PlannedTable, table: FeedTable): FeedFinding | null {
  const { key } = planned;
  const { identity, primaryKey, identityKey } = facts;
  const isKey = primaryKey !== null && areSameColumns(primaryKey, key);
  const byPrimaryKey = isKey ? `ALTER TABLE ${quotedTable(table)} REPLICA IDENTITY DEFAULT` : null;
  if (identity === 'f')
    return blocking(
      'identity-full',
      planned,
      table,
      "its REPLICA IDENTITY is FULL, so the partner's updates and deletions would fail, or every column would be sent",
      byPrimaryKey,
    );
  if (identity === 'n')
    return blocking(
      'identity-nothing',
      planned,
      table,
      "its REPLICA IDENTITY is NOTHING, so the partner's updates and deletions would fail",
      byPrimaryKey,
    );
  if (identity === 'i') {
    if (identityKey !== null && areSameColumns(identityKey, key)) return null;
    const columns = identityKey?.join(', ') ?? 'that is gone';
    const text = `its REPLICA IDENTITY is an index (${columns}), and the mapping needs ${key.join(', ')}`;
    return blocking('identity-index', planned, table, text, byPrimaryKey);
  }
  if (primaryKey === null)
    return blocking(
      'no-primary-key',
      planned,
      table,
      "it has no primary key, so the partner's updates and deletions would fail",
      `ALTER TABLE ${quotedTable(table)} ADD PRIMARY KEY (${key.map(quotedName).join(', ')})`,
    );
  if (isKey) return null;
  const both = [...key, ...primaryKey.filter((column) => !key.includes(column))];
  const text = `its primary key is ${primaryKey.join(', ')}, and the mapping needs ${key.join(', ')}; a unique index over ${both.join(', ')} as its REPLICA IDENTITY would tell them, if none of them may be NULL`;
  return blocking('other-key', planned, table, text);
}

/** Whatever their order. */
const areSameColumns = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && includesAll(one, other);

const includesAll = (columns: readonly string[], wanted: readonly string[]): boolean =>
  wanted.every((name) => columns.includes(name));

const blocking = (
  kind: FeedFindingKind,
  planned: PlannedTable | null,
  table: FeedTable | null,
  text: string,
  fix: string | null = null,
): FeedFinding => ({ kind, planned, table, blocks: true, text, fix });
