/** The sandbox's tables, as an ordered list of SQL steps that are each applied once. */
import type pg from 'pg';
import { inTransaction } from './database.js';
import { INGESTION } from './migrations/0001-ingestion.js';
import { MESSAGING } from './migrations/0002-messaging.js';
import { SEGMENTS } from './migrations/0003-segments.js';

/** Append only: a step that has been released is never edited. */
const STEPS: readonly string[] = [INGESTION, MESSAGING, SEGMENTS];

/** PostgreSQL 16: the first that says whether a text is a date, without failing on one that is not. */
const OLDEST_SERVER = 160_000;

/** A server on which some operations would fail. */
export class ServerTooOld extends Error {
  override readonly name = 'ServerTooOld';
}

/** Throws {@link ServerTooOld}. */
export async function assertServer(db: Pick<pg.ClientBase, 'query'>): Promise<void> {
  const { rows } = await db.query<{ version: string; words: string }>(
    `select current_setting('server_version_num') as version, current_setting('server_version') as words`,
  );
  if (Number(rows[0]!.version) < OLDEST_SERVER)
    throw new ServerTooOld(`the sandbox needs PostgreSQL 16 or newer, and its database is of ${rows[0]!.words}`);
}

/** Brings the database to the newest step. Safe to run from many processes at once: one of them does the work. */
export async function migrate(pool: pg.Pool): Promise<void> {
  await inTransaction(pool, async (db) => {
    await assertServer(db);
    // "create schema if not exists" itself fails when two do it at once, so the lock comes first.
    await db.query(`select pg_advisory_xact_lock(hashtextextended('sandbox migrations', 0))`);
    await db.query('create schema if not exists sandbox');
    await db.query(
      `create table if not exists sandbox.migrations
         (version integer primary key, applied_at timestamptz not null default clock_timestamp())`,
    );
    const { rows } = await db.query<{ version: number }>('select version from sandbox.migrations');
    const applied = new Set(rows.map((row) => row.version));
    for (const [i, step] of STEPS.entries()) {
      if (applied.has(i + 1)) continue;
      await db.query(step);
      await db.query('insert into sandbox.migrations (version) values ($1)', [i + 1]);
    }
  });
}
