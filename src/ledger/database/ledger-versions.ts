/**
 * Which programs and which ledgers can work together. Workers of two releases do so while one replaces the other, so a
 * migration either only expands the ledger, or waits until no program is left that it would break (CONTRIBUTING.md).
 */
import type { Knex } from 'knex';
import { quantity } from '../../domain/values/quantity.js';
import { PartnerSyncError } from '../../domain/errors.js';
import type { NamedMigration } from '../../postgres/migrate.js';

/** A step of the ledger's schema. */
export interface LedgerMigration extends NamedMigration {
  /**
   * `NNNN-expand-what` if it only adds: programs that do not know it go on working, and accept a ledger that has it. Any
   * other name belongs to a migration that may break older programs.
   */
  readonly name: string;
  /**
   * For a migration that may break older programs: the newest migration that a program must know to work after it. Not set:
   * it must know this very one.
   */
  readonly breaksBefore?: string;
}

const SESSION = 'partner-sync ledger ';
const onlyExpands = (name: string): boolean => /^\d{4}-expand-/.test(name);
const numberOf = (name: string): string => name.slice(0, 4);

/** What the sessions of this program are called in the database: with the number of the newest migration it knows. */
export const sessionName = (migrations: readonly LedgerMigration[]): string =>
  `${SESSION}${numberOf(migrations.at(-1)!.name)}`;

/**
 * Throws `state_not_ready` if the ledger has a migration that this program does not know, and that does more than expand
 * it. `applied`: the names in the ledger.
 */
export function assertNotNewer(applied: readonly string[], migrations: readonly LedgerMigration[]): void {
  const known = new Set(migrations.map(({ name }) => name));
  const foreign = applied.find((name) => !known.has(name) && !onlyExpands(name));
  if (foreign === undefined) return;
  throw new PartnerSyncError(
    'state_not_ready',
    `the ledger was made by a newer partner-sync (it has ${foreign}), and this one could damage it`,
  );
}

/**
 * Throws `state_not_ready` if the ledger is newer than this program, or if a migration that is due would break a program
 * that is connected now. To be called while nobody else migrates.
 */
export async function assertMigratable(
  knex: Knex,
  applied: readonly string[],
  migrations: readonly LedgerMigration[],
): Promise<void> {
  assertNotNewer(applied, migrations);
  if (applied.length === 0) return;
  for (const { name, breaksBefore = name } of migrations.filter((each) => !applied.includes(each.name))) {
    if (onlyExpands(name)) continue;
    const open = await olderSessions(knex, numberOf(breaksBefore));
    if (open === 0) continue;
    throw new PartnerSyncError(
      'state_not_ready',
      `the ledger cannot be upgraded (${name}) while an older partner-sync is connected to it (${quantity(open, 'session')}): stop the older workers first`,
    );
  }
}

/** Sessions of programs that know no migration from this number on. */
async function olderSessions(knex: Knex, number: string): Promise<number> {
  const { rows } = await knex.raw<{ rows: { open: number }[] }>(
    `SELECT count(*)::int AS open FROM pg_stat_activity
     WHERE datname = current_database() AND starts_with(application_name, ?) AND application_name < ?`,
    [SESSION, `${SESSION}${number}`],
  );
  return rows[0]!.open;
}
