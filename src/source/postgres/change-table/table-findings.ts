/** What speaks against a change table for certain tables of PostgreSQL, and what is to be known about it. */
import type { FeedFinding, PlannedTable } from '../../../domain/source/feed-installation.js';
import type { Session } from '../../dialect.js';
import { blocking, missingTable, unusableKey } from '../../changes/findings.js';
import type { KeyTexts } from '../../changes/key-texts.js';
import type { RecordedTable } from './table-installation.js';
import { quotedTable } from '../changes/quoted-names.js';

const TABLES_SQL = `
  SELECT json_build_object('index', w.index, 'kind', relkind, 'persistence', relpersistence,
    'hasChildren', relkind = 'r' AND EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid),
    'byRow', relkind = 'p' OR EXISTS (SELECT FROM pg_inherits WHERE inhrelid = c.oid)
      OR EXISTS (SELECT FROM pg_subscription_rel WHERE srrelid = c.oid))
  FROM json_to_recordset($1::json) AS w(index int, schema text, name text)
    JOIN pg_namespace n ON n.nspname = w.schema
    JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = w.name`;

interface TableFacts {
  readonly index: number;
  readonly kind: string;
  readonly persistence: string;
  readonly hasChildren: boolean;
  /** Whether rows are written that no trigger of a statement sees: through a parent, or by replication. */
  readonly byRow: boolean;
}

/** The tables as they are to be recorded, and what speaks against that. Throws what the driver does. */
export async function examineTables(
  run: Session['run'],
  tables: readonly PlannedTable[],
  keyTexts: KeyTexts,
): Promise<{ readonly recorded: RecordedTable[]; readonly findings: FeedFinding[] }> {
  const list = tables.map(({ table }, index) => ({ index, ...table }));
  const { rows } = await run({ sql: TABLES_SQL, bindings: [JSON.stringify(list)] });
  const facts = rows.map(([json]) => JSON.parse(json!) as TableFacts);
  const recorded: RecordedTable[] = [];
  const findings: FeedFinding[] = [];
  for (const [index, planned] of tables.entries()) {
    const found = facts.find((each) => each.index === index);
    const finding = found === undefined ? missingTable(planned) : tableFinding(found, planned);
    if (finding !== null) {
      findings.push(finding);
      continue;
    }
    const unusable = await keyTexts.unusable(planned);
    findings.push(...unusable.map((column) => unusableKey(planned, column)));
    recorded.push({ ...planned, byRow: found!.byRow });
  }
  return { recorded, findings };
}

function tableFinding({ kind, persistence, hasChildren }: TableFacts, planned: PlannedTable): FeedFinding | null {
  if (kind !== 'r' && kind !== 'p')
    return blocking('not-publishable', planned, 'it is no table; name in changes.tables those that it reads');
  if (persistence !== 'p')
    return blocking(
      'not-publishable',
      planned,
      'it is not logged, so that a crash of the server empties it without a trigger',
      `ALTER TABLE ${quotedTable(planned.table)} SET LOGGED`,
    );
  if (hasChildren)
    return blocking(
      'children',
      planned,
      'other tables inherit from it, and no trigger of it sees what is written to them',
    );
  return null;
}
