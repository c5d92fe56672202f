/** Compares the tables of mappings that go by a change feed with what the feed needs of them. */
import type { FeedFindingKind } from '../domain/source/feed-installation.js';
import { PartnerSyncError } from '../domain/errors.js';
import { isSameTable, type FeedTable } from '../domain/source/feed-table.js';
import type { Source } from '../domain/source/source.js';
import type { Finding, FindingKind } from '../domain/sync/finding.js';
import type { MappingSpec, SyncSpec } from '../domain/sync/sync.js';
import { formatPath, type Locate, type Path } from '../mapping/language/place.js';
import { changedByProblems } from '../reading/affected-rows.js';
import { shownFindings } from './shown-findings.js';
import { fedTables, shownTable, type FedTable } from './sync-feeds.js';
import { declaredFeeds, type DeclaredFeed } from '../domain/sync/declared-feeds.js';

/** Those that another key of the mapping, or of the table, would correct. */
const OF_KEY: readonly FeedFindingKind[] = ['no-primary-key', 'identity-index', 'other-key', 'key-type'];

/**
 * Errors about tables that a feed cannot report, whether it is installed or not, and about those that an installed one does
 * not; warnings about those of which it cannot report every change. What is wrong with the server, and a feed that is not installed yet, are for `doctor` to say.
 */
export async function checkFeeds(sync: SyncSpec, source: Source, locate: Locate): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const feed of declaredFeeds(sync)) findings.push(...(await checkFeed(sync.name, feed, source, locate)));
  return findings;
}

async function checkFeed(sync: string, feed: DeclaredFeed, source: Source, locate: Locate): Promise<Finding[]> {
  const tables = await fedTables(source, feed);
  const { findings, missingTables } = await source.changes(feed.config).installation(tables);
  const fileOf = (mapping: string): string => feed.mappings.find(({ name }) => name === mapping)!.file;
  const at = (
    mapping: string,
    kind: FindingKind,
    path: Path,
    message: string,
    severity: Finding['severity'] = 'error',
  ): Finding => {
    const { line, column } = locate(fileOf(mapping), path);
    return { severity, kind, file: fileOf(mapping), line, column, path: formatPath(path), message };
  };
  const pathOf = (mapping: string, table: string, otherwise: 'key' | 'changes' = 'changes'): Path => {
    const found = tables.find((each) => each.mapping === mapping && shownTable(each.table) === table);
    return found?.declared == null ? [otherwise] : ['changes', 'tables', found.declared];
  };
  const ofMappings: Finding[] = [];
  for (const mapping of feed.mappings) {
    for (const { table, kind, message } of await changedByProblems(source, mapping))
      ofMappings.push(at(mapping.name, kind, ['changes', 'tables', table], message));
    for (const table of await unnamedTables(source, mapping, tables))
      ofMappings.push(
        at(
          mapping.name,
          'changes_unnamed',
          ['changes', 'tables'],
          `${table} is read, too, and not named here: what changes there is left to runs in mode full or mirror`,
          'warning',
        ),
      );
  }
  // That there is no such table was found when it was described.
  const known = tables.filter(
    ({ table }) => !findings.some(({ kind, planned }) => kind === 'table-missing' && planned?.table === table),
  );
  return [
    ...ofMappings,
    ...shownFindings(
      known,
      findings.filter(({ blocks }) => blocks),
    ).flatMap(({ kind, mappings, table, text, fix }) =>
      mappings.map((mapping) => {
        const message = `the change feed ${feed.name} cannot report ${table}: ${text}${fix === null ? '' : `: ${fix}`}`;
        return at(
          mapping,
          'changes_table',
          pathOf(mapping, table!, OF_KEY.includes(kind) ? 'key' : 'changes'),
          message,
        );
      }),
    ),
    ...shownFindings(
      known,
      findings.filter(({ kind }) => kind === 'not-recorded'),
    ).flatMap(({ mappings, table, text }) =>
      mappings.map((mapping) =>
        at(
          mapping,
          'changes_table',
          pathOf(mapping, table!),
          `the change feed ${feed.name} does not report every change of ${table}: ${text}; such rows are left to runs in mode mirror`,
          'warning',
        ),
      ),
    ),
    ...known
      .filter(({ table }) => missingTables?.some((missing) => shownTable(missing.table) === shownTable(table)))
      .map(({ mapping, table }) =>
        at(
          mapping,
          'changes_unpublished',
          pathOf(mapping, shownTable(table)),
          `the change feed ${feed.name} does not report ${shownTable(table)}; partner-sync changes install ${sync} prints the SQL that adds it, and runs it with --apply`,
        ),
      ),
  ];
}

/** Tables that the mapping reads, as far as the database tells, and by which it is not changed. */
async function unnamedTables(source: Source, mapping: MappingSpec, tables: readonly FedTable[]): Promise<string[]> {
  const named = tables.filter((each) => each.mapping === mapping.name);
  const relations = [mapping.relation, ...mapping.changedBy.flatMap(({ through }) => through ?? [])];
  const read = (await Promise.all(relations.map((relation) => tablesRead(source, relation)))).flat();
  const unnamed = read.filter((table) => !named.some((each) => isSameTable(each.table, table)));
  return [...new Set(unnamed.map(shownTable))];
}

/** None of a relation that cannot be read, which is found when its columns are looked at. */
async function tablesRead(source: Source, relation: MappingSpec['relation']): Promise<readonly FeedTable[]> {
  try {
    return (await source.tablesRead(relation)) ?? [];
  } catch (error) {
    if (error instanceof PartnerSyncError && !error.retryable) return [];
    throw error;
  }
}
