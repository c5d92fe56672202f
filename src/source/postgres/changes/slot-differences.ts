/** What is missing of a slot, and what is there, but not as it has to be. Nobody but its owner knows why: it is left as it is. */
import {
  distinctTables,
  missingAmong,
  type FeedFinding,
  type FeedInstallation,
  type PlannedTable,
} from '../../../domain/source/feed-installation.js';
import { isSameTable } from '../../../domain/source/feed-table.js';
import type { SlotConfig } from './slot-config.js';
import { differingFunctions, slotInstallation, type SlotPlan } from './slot-installation.js';
import type { FoundParts, PublicationPart, RolePart } from './slot-parts.js';
import { columnList, literal, quotedName, quotedTable } from './quoted-names.js';
import { publishAll } from './slot-state.js';

/** Puts together what was found about the parts and about the tables. */
export function installationOf(
  config: SlotConfig,
  tables: readonly PlannedTable[],
  found: FoundParts,
  findings: readonly FeedFinding[],
): FeedInstallation {
  const { database, version, account, parts } = found;
  const plan: SlotPlan = { ...config, version, account, tables: distinctTables(tables) };
  const { publication } = parts;
  return {
    database,
    findings: [
      // The slot is there: it needs no other one.
      ...findings.filter(({ kind }) => kind !== 'no-free-slot' || parts.slot === null),
      ...(publication === null ? [] : publicationFindings(config, plan, publication)),
      ...(parts.role === null ? [] : roleFindings(config, parts.role)),
      ...differingFunctions(plan, parts).map(({ name, removal }) =>
        differs(`the function ${name} is not the one that would be installed; remove it, and install again`, removal),
      ),
      ...slotFindings(config, found),
    ],
    statements: slotInstallation(plan, parts),
    missingTables:
      publication === null
        ? null
        : missingAmong(
            tables,
            publication.reported.map(({ table }) => table),
          ),
  };
}

const reportedAs = (
  { reported }: PublicationPart,
  { table }: PlannedTable,
): PublicationPart['reported'][number] | undefined => reported.find((each) => isSameTable(each.table, table));

function publicationFindings(config: SlotConfig, plan: SlotPlan, publication: PublicationPart): FeedFinding[] {
  const name = quotedName(config.publication);
  const { missingKinds, leftOutRows, members } = publication;
  return [
    ...(missingKinds === null ? [] : [differs(missingKinds, publishAll(config.publication))]),
    ...(leftOutRows === null ? [] : [differs(leftOutRows)]),
    ...plan.tables.flatMap((planned): FeedFinding[] => {
      const { table } = planned;
      const reported = reportedAs(publication, planned);
      if (reported !== undefined) return columnFindings(config, planned, publication, reported.columns);
      if (!members.some((member) => isSameTable(member, table))) return [];
      const text = `the publication ${name} reports the partitions of ${quotedTable(table)} under their own names`;
      const fix = `ALTER PUBLICATION ${name} SET (publish_via_partition_root = true)`;
      return [{ ...differs(text, fix), planned, table }];
    }),
  ];
}

function columnFindings(
  config: SlotConfig,
  planned: PlannedTable,
  { isOfAllTables }: PublicationPart,
  columns: readonly string[] | null,
): FeedFinding[] {
  if (columns === null) return [];
  const { table, key } = planned;
  const [name, tableName] = [quotedName(config.publication), quotedTable(table)];
  // In one transaction: what changes in between would not be reported.
  const fix = isOfAllTables
    ? null
    : `BEGIN; ALTER PUBLICATION ${name} DROP TABLE ${tableName}; ` +
      `ALTER PUBLICATION ${name} ADD TABLE ${tableName} (${columnList(key)}); COMMIT`;
  const lacking = key.filter((column) => !columns.includes(column));
  if (lacking.length > 0)
    return [
      {
        ...differs(
          `the publication ${name} lacks columns of the key of ${tableName} (${lacking.join(', ')}), so the partner's updates and deletions fail`,
          fix,
        ),
        planned,
        table,
      },
    ];
  const more = columns.filter((column) => !key.includes(column)).length;
  if (more === 0) return [];
  const text = `the publication ${name} sends more columns of ${tableName} than its key, which are not used`;
  return [{ kind: 'more-columns', planned, table, blocks: false, text, fix }];
}

function roleFindings({ slot }: SlotConfig, { canLogin, canReadSlots, isSuperuser }: RolePart): FeedFinding[] {
  const wrong = [
    ...(canLogin ? ['can log in'] : []),
    ...(canReadSlots ? [] : ['lacks REPLICATION']),
    ...(isSuperuser ? ['is a superuser'] : []),
  ];
  const role = quotedName(`${slot}_owner`);
  const text = `the role ${role}, whose rights the functions have, ${wrong.join(' and ')}`;
  return wrong.length === 0 ? [] : [differs(text, `ALTER ROLE ${role} NOLOGIN REPLICATION NOSUPERUSER`)];
}

function slotFindings(config: SlotConfig, { parts: { slot, publication } }: FoundParts): FeedFinding[] {
  if (slot === null) return [];
  const removal = `SELECT pg_drop_replication_slot(${literal(config.slot)})`;
  if (slot.problem !== null)
    return slot.isOfThisKind
      ? [differs(`${slot.problem}; drop it, and install again`, removal)]
      : [differs(`${slot.problem}; name another slot in the files`)];
  if (publication !== null) return [];
  const text = `the slot "${config.slot}" is older than the publication, and could not be read; drop it, and install again`;
  return [differs(text, removal)];
}

const differs = (text: string, fix: string | null = null): FeedFinding => ({
  kind: 'part-differs',
  planned: null,
  table: null,
  blocks: true,
  text,
  fix,
});
