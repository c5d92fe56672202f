/** `changes install`: finds what speaks against the feeds of a sync, and runs or prints what is missing of them. */
import type { Parts } from '../../composition/parts.js';
import type { FeedConfig } from '../../domain/source/change-feed.js';
import { fedTables, requiredFeeds } from '../../inspection/sync-feeds.js';
import { shownFindings, type ShownFinding } from '../../inspection/shown-findings.js';
import { printable } from '../output/text-table.js';
import { runStatements, onlyShown, type RunStatements, type ShownStatement } from './run-statements.js';
import { comment, failureLines, outcomeLines, scriptLines } from './statement-lines.js';

/** What became of one feed. */
interface InstalledFeed {
  readonly feed: string;
  readonly kind: FeedConfig['kind'];
  readonly findings: readonly ShownFinding[];
  /** Those that are missing; none if nothing is to be run because of a finding. */
  readonly statements: readonly ShownStatement[];
}

/** What became of all feeds of a sync. */
export interface Installed {
  readonly sync: string;
  readonly apply: boolean;
  /** Whether a finding is in the way. */
  readonly blocked: boolean;
  readonly feeds: readonly InstalledFeed[];
  readonly failure: RunStatements['failure'];
}

/** Installs the feeds of a sync if `apply` says so and nothing speaks against any of them; otherwise only looks. */
export async function installFeeds(parts: Parts, name: string, apply: boolean): Promise<Installed> {
  const { spec, source } = await parts.openSync(name);
  const feeds = [];
  for (const declared of requiredFeeds(spec)) {
    const feed = source.changes(declared.config);
    const tables = await fedTables(source, declared);
    feeds.push({ feed: declared.name, kind: declared.config.kind, tables, ...(await feed.installation(tables)) });
  }
  const blocked = feeds.some(({ findings }) => findings.some(({ blocks }) => blocks));
  const planned = feeds.map((each) => (blocked ? { ...each, statements: [] } : each));
  const run = apply ? await runStatements(() => parts.sourceAdministrator(spec), planned) : onlyShown(planned);
  return {
    sync: name,
    apply,
    blocked,
    feeds: feeds.map(({ feed, kind, tables, findings }) => ({
      feed,
      kind,
      findings: shownFindings(tables, findings),
      statements: run.statements.get(feed)!,
    })),
    failure: run.failure,
  };
}

/** The lines for people: without `apply` all of them are a script for the client of the database. */
export const installLines = (installed: Installed): string[] =>
  installed.apply && !installed.blocked ? appliedLines(installed) : plannedLines(installed);

function plannedLines({ sync, blocked, feeds }: Installed): string[] {
  return [
    ...feeds.flatMap(({ feed, findings, statements }) => [
      comment(`change feed ${feed} of ${sync}`),
      ...findings.flatMap(findingTexts).map(comment),
      ...(blocked || statements.length > 0 ? [] : [comment('everything is there')]),
      ...scriptLines(statements),
    ]),
    ...(blocked ? [comment('Nothing was changed: correct the errors, and run the command again.')] : []),
    ...(feeds.some(({ statements }) => statements.length > 0)
      ? [comment(feeds.some(({ kind }) => kind === 'slot') ? HOW_TO_RUN.slot : HOW_TO_RUN.table)]
      : []),
  ];
}

const HOW_TO_RUN: Readonly<Record<FeedConfig['kind'], string>> = {
  slot: 'Nothing was changed: let psql run these lines with an account that may, without --single-transaction, or use --apply.',
  table: "Nothing was changed: let the database's own client run these lines with an account that may, or use --apply.",
};

const appliedLines = (installed: Installed): string[] => [
  ...installed.feeds.flatMap(({ feed, findings, statements }) => [
    `change feed ${feed} of ${installed.sync}: ${statements.length === 0 ? 'everything is there, and nothing was changed' : ''}`.trimEnd(),
    ...findings.flatMap(findingTexts).map((text) => `  ${printable(text)}`),
    ...outcomeLines(statements),
  ]),
  ...failureLines({ statements: new Map(), failure: installed.failure }),
];

/** The finding, and below it the SQL that corrects it. */
function findingTexts({ table, mappings, blocks, text, fix }: ShownFinding): string[] {
  const of = mappings.length === 0 ? '' : ` (${mappings.join(', ')})`;
  const place = table === null ? '' : `${table}${of}: `;
  return [`${blocks ? 'error' : 'warning'}: ${place}${text}`, ...(fix === null ? [] : [`  to correct it: ${fix};`])];
}
