/** Runs the statements of an installation or a removal one by one, and keeps what became of each. */
import { ERROR_CATALOGUE, PartnerSyncError } from '../../domain/errors.js';
import type { InstallationStatement, SourceAdministrator } from '../../domain/source/feed-installation.js';

/** What became of a statement; `to run` if nobody was to run it yet. */
export type StatementOutcome = 'to run' | 'done' | 'failed' | 'not run';

/** A statement, and what became of it. */
export interface ShownStatement extends InstallationStatement {
  readonly outcome: StatementOutcome;
}

/** The statements of one feed. */
export interface FeedStatements {
  readonly feed: string;
  /** Which database they are for: {@link SourceAdministrator.assertDatabase}. */
  readonly database: string;
  readonly statements: readonly InstallationStatement[];
}

/** Why a statement failed. */
export interface StatementFailure {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
}

/** What became of all statements, by their feed. */
export interface RunStatements {
  readonly statements: ReadonlyMap<string, readonly ShownStatement[]>;
  readonly failure: StatementFailure | null;
}

/** The same, if they are only shown. */
export const onlyShown = (feeds: readonly FeedStatements[]): RunStatements => ({
  statements: new Map(feeds.map(({ feed, statements }) => [feed, statements.map((each) => shown(each, 'to run'))])),
  failure: null,
});

/** Runs all statements, each by itself, up to the first that fails. Throws if there is no connection to the database. */
export async function runStatements(
  open: () => Promise<SourceAdministrator>,
  feeds: readonly FeedStatements[],
): Promise<RunStatements> {
  const withWork = feeds.filter(({ statements }) => statements.length > 0);
  if (withWork.length === 0) return onlyShown(feeds);
  const administrator = await open();
  try {
    for (const { database } of withWork) await administrator.assertDatabase(database);
    return await runOneByOne(administrator, feeds);
  } finally {
    await administrator.close();
  }
}

async function runOneByOne(
  administrator: SourceAdministrator,
  feeds: readonly FeedStatements[],
): Promise<RunStatements> {
  const outcomes = new Map<string, ShownStatement[]>();
  const failures: StatementFailure[] = [];
  const run = async (statement: InstallationStatement): Promise<StatementOutcome> => {
    if (failures.length > 0) return 'not run';
    const failure = await failureOf(administrator, statement);
    if (failure === null) return 'done';
    failures.push(failure);
    return 'failed';
  };
  for (const { feed, statements } of feeds) {
    const ofFeed: ShownStatement[] = [];
    for (const statement of statements) ofFeed.push(shown(statement, await run(statement)));
    outcomes.set(feed, ofFeed);
  }
  return { statements: outcomes, failure: failures[0] ?? null };
}

const shown = ({ sql, why }: InstallationStatement, outcome: StatementOutcome): ShownStatement => ({
  sql,
  why,
  outcome,
});

async function failureOf(
  administrator: SourceAdministrator,
  statement: InstallationStatement,
): Promise<StatementFailure | null> {
  try {
    await administrator.run(statement);
    return null;
  } catch (error) {
    if (!(error instanceof PartnerSyncError)) throw error;
    return { code: error.code, message: error.message, remedy: remedyOf(error) };
  }
}

/** Codes of missing privileges: of PostgreSQL, MySQL and MariaDB, and SQLite. */
const NOT_PERMITTED = /^(SQLSTATE 42501|error (1044|1142|1227|1370|1419), .*|SQLITE_READONLY)$/;

const remedyOf = ({ code, details }: PartnerSyncError): string =>
  NOT_PERMITTED.test(String(details['databaseCode']))
    ? 'Set SOURCE_ADMIN_URL to the address of the source with an account that may do this, and run the command again; or let an administrator run what it prints without --apply.'
    : `${ERROR_CATALOGUE[code].remedy} Then run the command again: it goes on with what is left.`;
