/** A PostgreSQL server with logical replication, and slots on it, for tests of change feeds. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import type { ChangeFeed, ChangeGroup, FeedPosition } from '../../src/domain/source/change-feed.js';
import type { Source } from '../../src/domain/source/source.js';
import { openSource } from '../../src/source/open-source.js';
import { startPostgres, type EmbeddedPostgres } from '../../src/embedded/postgres-server.js';
import { createDatabase, type Database } from '../databases.js';
import { SOURCE_PROGRAM } from '../postgres-program.js';

export interface SlotServer extends EmbeddedPostgres {
  /** Its major version. */
  readonly version: number;
}

/** Losing it in a power cut loses nothing. */
const SETTINGS = {
  wal_level: 'logical',
  max_replication_slots: '40',
  max_wal_senders: '1',
  max_prepared_transactions: '5',
  fsync: 'off',
  full_page_writes: 'off',
};

export async function startSlotServer(settings: Readonly<Record<string, string>> = {}): Promise<SlotServer> {
  const server = await startPostgres({
    folder: join(inject('runFolder'), `slots-${randomUUID()}`),
    log: () => undefined,
    settings: { ...SETTINGS, ...settings },
    ...SOURCE_PROGRAM,
  });
  const database = await createDatabase(server.url('postgres'));
  const [{ version }] = (await database.query<{ version: number }>(
    `SELECT current_setting('server_version_num')::int / 10000 AS version`,
  )) as [{ version: number }];
  await database.drop();
  return { ...server, version };
}

/** A database of one test with a slot and a publication of its name. */
export interface Slot extends Database {
  readonly name: string;
  readonly config: { readonly kind: 'slot'; readonly slot: string; readonly publication: string };
  readonly source: Source;
  readonly feed: ChangeFeed;
}

/**
 * Creates `tables` by SQL, a publication of the key columns of each, and a slot; all of it is dropped after the test. Before
 * PostgreSQL 15, a publication has whole rows.
 */
export async function createSlot(
  server: SlotServer,
  sql: string,
  tables: Readonly<Record<string, string>>,
  poolMax = 2,
): Promise<Slot> {
  const database = await createDatabase(server.url('postgres'));
  await database.query(sql);
  const name = await installSlot(server, database, tables);
  const source = openSource({ connection: database.url, poolMax, statementTimeout: 10 });
  const config = { kind: 'slot', slot: name, publication: name } as const;
  onTestFinished(async () => {
    await source.close();
    await dropSlot(database, name);
    await database.drop();
  });
  return { ...database, name, config, source, feed: source.changes(config) };
}

/** Creates a publication and a slot with the name of the database, which it returns. `tables`: the key columns of each. */
export async function installSlot(
  { version }: Pick<SlotServer, 'version'>,
  database: Database,
  tables: Readonly<Record<string, string>>,
): Promise<string> {
  const name = new URL(database.url).pathname.slice(1);
  const list = Object.entries(tables).map(([table, key]) => (version >= 15 ? `${table} (${key})` : table));
  const root = version >= 13 ? 'WITH (publish_via_partition_root = true)' : '';
  await database.query(`CREATE PUBLICATION ${name} FOR TABLE ${list.join(', ')} ${root}`);
  await database.query(`SELECT pg_create_logical_replication_slot($1, 'pgoutput')`, [name]);
  return name;
}

export async function dropSlot(database: Database, name: string): Promise<void> {
  await database.query(`SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = $1`, [
    name,
  ]);
  await database.query(`SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = $1`, [
    name,
  ]);
}

/** Everything that one reading gives. */
export async function groupsFrom(
  feed: ChangeFeed,
  position: FeedPosition,
  signal = new AbortController().signal,
): Promise<ChangeGroup[]> {
  const groups: ChangeGroup[] = [];
  for await (const group of feed.read(position, signal)) groups.push(group);
  return groups;
}

/** The keys of a reading as `table:value|value`, in their order. */
export const keysOf = (groups: readonly ChangeGroup[]): string[] =>
  groups.flatMap(({ rows }) => rows.flatMap(({ table, keys }) => keys.map((key) => `${table.name}:${key.join('|')}`)));

/** The last position of a reading, or the one that it began with. */
export const positionAfter = (groups: readonly ChangeGroup[], before: FeedPosition): FeedPosition =>
  groups.findLast(({ position }) => position !== null)?.position ?? before;

/** Reads, and confirms what was read. */
export async function turn(feed: ChangeFeed, position: FeedPosition): Promise<[string[], FeedPosition]> {
  const groups = await groupsFrom(feed, position);
  const after = positionAfter(groups, position);
  await feed.confirm(after);
  return [keysOf(groups), after];
}
