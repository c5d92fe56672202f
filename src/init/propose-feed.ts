/** Finds out whether a drafted sync can go by a change feed, and if not, what is missing for it. Only reads the catalogue. */
import { PartnerSyncError } from '../domain/errors.js';
import type { FeedConfig } from '../domain/source/change-feed.js';
import type { FeedFinding, FeedFindingKind, PlannedTable } from '../domain/source/feed-installation.js';
import type { FeedTable } from '../domain/source/feed-table.js';
import type { Source } from '../domain/source/source.js';
import type { DraftMapping } from './draft.js';

/** What the files say of a feed, and why. */
export interface FeedProposal {
  /**
   * `ready`: everything is there, and the feed is declared. `to-install`: a command installs it. `obstacles`: something of the
   * server or the tables has to change first. `none`: this database has no feed that partner-sync reads.
   */
  readonly state: 'ready' | 'to-install' | 'obstacles' | 'none';
  /** The value of `changes`, in YAML; null without a feed. */
  readonly changes: string | null;
  /** How runs find changed rows, and why they do it so: one sentence for each line. */
  readonly why: readonly string[];
}

/** A kind of feed that the database may have. */
interface Candidate {
  readonly config: FeedConfig;
  /** How sentences name it. */
  readonly noun: string;
  /** What it is, and what it costs. */
  readonly about: string;
  /** The value of `changes`. */
  readonly changes: string;
}

/** A candidate, and what the catalogue says of it. */
interface Examined extends Candidate {
  readonly state: Exclude<FeedProposal['state'], 'none'>;
  /** What is in the way. */
  readonly obstacles: readonly string[];
  /** What somebody should know who uses it. */
  readonly notes: readonly string[];
}

/**
 * Proposes the feed that is installed, or else the first possible one in the order of preference, and says why the others are
 * not possible.
 */
export async function proposeFeed(
  source: Pick<Source, 'changes'>,
  sync: string,
  product: string,
  mappings: readonly DraftMapping[],
): Promise<FeedProposal> {
  const without = withoutFeed(mappings);
  const tables = mappings.map(({ table, key }): PlannedTable => ({ table, key }));
  const examined: Examined[] = [];
  for (const candidate of candidatesOf(product, sync)) examined.push(await examine(source, candidate, tables));
  const best =
    examined.find(({ state }) => state === 'ready') ??
    examined.find(({ state }) => state === 'to-install') ??
    examined[0];
  if (best === undefined) return { state: 'none', changes: null, why: [without] };
  const { state, changes, about, notes } = best;
  if (state === 'ready')
    return {
      state,
      changes,
      why: ['Changed and deleted rows are found by the change feed, which is installed.', ...notes],
    };
  const inTheWay = examined
    .filter((each) => each.state === 'obstacles')
    .flatMap(({ noun, obstacles }) => [`${noun} is not possible yet:`, ...obstacles]);
  return {
    state,
    changes,
    why: [without, FEED, ...inTheWay, ...(state === 'obstacles' ? [] : [about]), ...notes, howTo(sync)],
  };
}

/** The feeds that a database may have, the one that costs the partner least first. */
function candidatesOf(product: string, sync: string): readonly Candidate[] {
  const name = `partner_sync_${sync.replaceAll('-', '_')}`.slice(0, LONGEST_NAME);
  const slot: Candidate = {
    config: { kind: 'slot', slot: name, publication: name },
    noun: 'A slot',
    about: 'A slot is possible, which costs those who write next to nothing.',
    changes: `{ slot: ${name}, publication: ${name} }`,
  };
  const table: Candidate = {
    config: { kind: 'table', table: name },
    noun: 'A change table',
    about: 'A change table is possible, which triggers fill.',
    changes: `{ table: ${name} }`,
  };
  if (product === 'PostgreSQL') return [slot, table];
  return ['MySQL', 'MariaDB', 'SQLite'].includes(product) ? [table] : [];
}

async function examine(
  source: Pick<Source, 'changes'>,
  candidate: Candidate,
  tables: readonly PlannedTable[],
): Promise<Examined> {
  try {
    const { findings, statements } = await source.changes(candidate.config).installation(tables);
    const obstacles = findings.filter(({ blocks }) => blocks);
    const notes = findings.filter(({ kind }) => TO_KNOW.includes(kind));
    if (obstacles.length > 0) return { ...candidate, state: 'obstacles', obstacles: texts(obstacles), notes: [] };
    const state = statements.length > 0 ? 'to-install' : 'ready';
    return { ...candidate, state, obstacles: [], notes: texts(notes) };
  } catch (error) {
    // Such as an account that may not look: the draft does not need a feed.
    if (!(error instanceof PartnerSyncError)) throw error;
    const obstacles = [`it could not be examined: ${error.message}`];
    return { ...candidate, state: 'obstacles', obstacles, notes: [] };
  }
}

/** Findings that somebody should know who chooses a feed; others are about the server, and for `install` to say. */
const TO_KNOW: readonly FeedFindingKind[] = ['cost', 'not-recorded', 'not-pruned'];

/** More than a comment should have are found by the command that installs. */
const MOST = 5;

function texts(findings: readonly FeedFinding[]): string[] {
  const all = findings.map(({ table, text }) => (table === null ? text : `${shown(table)}: ${text}`));
  return all.length <= MOST ? all : [...all.slice(0, MOST), `and ${all.length - MOST} more`];
}

const shown = ({ schema, name }: FeedTable): string => (schema === null ? name : `${schema}.${name}`);

/** The most characters that `changes` allows. */
const LONGEST_NAME = 54;

const FEED = 'A change feed would tell every change, and deleted rows, too.';

const howTo = (sync: string): string =>
  `To use it, remove the # before changes, then run: partner-sync changes install ${sync}`;

/** How runs find changed rows without a feed. */
function withoutFeed(mappings: readonly DraftMapping[]): string {
  const full = mappings.filter(({ cursor }) => cursor === null).map(({ name }) => name);
  if (full.length === 0) return 'Changed rows are found by cursor columns; rows that are gone are not noticed.';
  if (full.length === mappings.length)
    return 'Every run reads all rows, as no table has a column that shows changes; rows that are gone are not noticed.';
  return `Changed rows are found by cursor columns, and of ${full.join(', ')} every run reads all rows; rows that are gone are not noticed.`;
}
