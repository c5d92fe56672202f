/** The databases that the partner of a campaign may have, with the few things in which they differ. */
import { mariadb } from './sources/mariadb.mjs';
import { postgres } from './sources/postgres.mjs';
import { sqlite } from './sources/sqlite.mjs';

/**
 * @typedef PartnerSession
 * @property {(sql: string) => Promise<number>} run returns how many rows were changed
 * @property {(sql: string) => Promise<object[]>} rows
 * @property {() => Promise<void>} end
 *
 * @typedef PartnerDatabase
 * @property {Partial<Record<'slot' | 'table', string>>} changes what a sync's `changes` says, for each kind of feed that there is
 * @property {(name: string) => string} table the name of one of the shop's tables
 * @property {(count: number) => string} numbers a table of the numbers 1 to `count`, `n(i)`, for FROM
 * @property {string} insert the words before the table of an INSERT that leaves out rows that are there already
 * @property {string} orIgnore the words at the end of such a statement
 * @property {{short: number, late: number, lateMs: number}} writers how many connections write at once, and how long the late
 *   ones leave their transactions open
 * @property {string} begin begins a transaction that writes
 * @property {string} title its name, for people
 * @property {string} version asks for its version
 * @property {string} analyze lets the planner know the tables
 * @property {(error: object) => boolean} isMistake whether a statement failed because it is wrong in itself
 * @property {string} tables creates the shop's tables
 * @property {(how: object) => Promise<{url: string, port?: number, pid?: number, create: () => Promise<void>,
 *   stop: () => Promise<void>}>} start a server, or a file, which has no port
 * @property {(url: string) => Promise<PartnerSession>} connect
 */

/** @type {Record<string, PartnerDatabase>} by the names that `--source` takes */
export const SOURCES = { postgres, mariadb, sqlite };

/** Runs `work` with a session of its own, which is ended afterwards. */
export async function withSession(database, url, work) {
  const session = await database.connect(url);
  try {
    return await work(session);
  } finally {
    await session.end();
  }
}
