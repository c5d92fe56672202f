/** A database of any kind with an installed change table. */
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { ChangeFeed, ChangeGroup, FeedPosition } from '../../src/domain/source/change-feed.js';
import type { InstallationStatement, PlannedTable } from '../../src/domain/source/feed-installation.js';
import type { Source } from '../../src/domain/source/source.js';
import { postgresOn, type TestDialect, type TestDialectName, type Writer } from './dialect-databases.js';
import { open } from './reading.js';
import { groupsFrom, keysOf, positionAfter, startSlotServer, type SlotServer } from './slot-server.js';

export const CHANGES = { kind: 'table', table: 'partner_changes' } as const;

/**
 * The dialect with a server of the file's own if it is PostgreSQL: there, transactions of other tests would hold a reading
 * back, though they are of other databases. To be called where hooks can be registered.
 */
export function undisturbed(dialect: TestDialect): TestDialect {
  if (dialect.name !== 'PostgreSQL') return dialect;
  let server: SlotServer;
  beforeAll(async () => void (server = await startSlotServer({ autovacuum: 'off' })));
  afterAll(() => server.stop());
  return postgresOn(() => server.url('postgres'));
}

/** Sets back what the table beside the change table says, as an older copy of the database has it. */
export const SET_BACK: Readonly<Record<TestDialectName, string>> = {
  PostgreSQL: 'UPDATE partner_sync_changes.partner_changes_state SET pruned_xid = 0, pruned_seq = 0',
  MariaDB: 'UPDATE partner_changes_state SET pruned = 0',
  MySQL: 'UPDATE partner_changes_state SET pruned = 0',
  SQLite: 'UPDATE partner_changes_state SET pruned = 0',
};

export interface ChangeTableDatabase {
  readonly url: string;
  readonly run: (sql: string) => Promise<void>;
  readonly connect: () => Promise<Writer>;
  readonly source: Source;
  readonly feed: ChangeFeed;
  /** Tables of a mapping as the feed wants them. */
  readonly planned: (tables: Readonly<Record<string, readonly string[]>>) => Promise<PlannedTable[]>;
  readonly runAll: (statements: readonly InstallationStatement[]) => Promise<void>;
}

/** Creates `tables` by SQL, and a change table with the triggers of each by its key columns. */
export async function createChangeTable(
  dialect: TestDialect,
  sql: string,
  tables: Readonly<Record<string, readonly string[]>>,
): Promise<ChangeTableDatabase> {
  const database = await dialect.create();
  await database.run(sql);
  const source = open(database.url);
  onTestFinished(async () => {
    await source.close();
    await database.drop();
  });
  const feed = source.changes(CHANGES);
  const opened: ChangeTableDatabase = {
    url: database.url,
    run: (statement) => database.run(statement),
    connect: () => database.connect(),
    source,
    feed,
    planned: (named) =>
      Promise.all(
        Object.entries(named).map(async ([table, key]) => {
          const [found] = await source.tables([table]);
          return { table: { schema: found!.schema, name: found!.name }, key };
        }),
      ),
    runAll: async (statements) => {
      for (const statement of statements) await database.run(statement.sql);
    },
  };
  await opened.runAll((await feed.installation(await opened.planned(tables))).statements);
  return opened;
}

/** The keys of one reading in their order, without repetition, and the position after it. */
export async function keysFrom(feed: ChangeFeed, position: FeedPosition): Promise<[string[], FeedPosition]> {
  const groups = await groupsFrom(feed, position);
  return [sortedKeys(groups), positionAfter(groups, position)];
}

const sortedKeys = (groups: readonly ChangeGroup[]): string[] => [...new Set(keysOf(groups))].toSorted();

/** Reads, and confirms what was read. */
export async function turnOf(feed: ChangeFeed, position: FeedPosition): Promise<[string[], FeedPosition]> {
  const [keys, after] = await keysFrom(feed, position);
  await feed.confirm(after);
  return [keys, after];
}
