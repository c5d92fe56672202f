/** Finds out whether a drafted sync can go by a change feed, and if not, what is missing for it. Only reads the catalogue. */
import { PartnerSyncError } from '../domain/errors.js';
import type { FeedTable } from '../domain/source/feed-table.js';
import type { PlannedTable } from '../domain/source/feed-installation.js';
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

/** More obstacles than a comment should have are found by the command that installs. */
const OBSTACLES = 5;

export async function proposeFeed(
  source: Pick<Source, 'changes'>,
  sync: string,
  product: string,
  mappings: readonly DraftMapping[],
): Promise<FeedProposal> {
  const without = withoutFeed(mappings);
  if (product !== 'PostgreSQL') return { state: 'none', changes: null, why: [without] };
  const name = `partner_sync_${sync.replaceAll('-', '_')}`.slice(0, LONGEST_SLOT);
  const changes = `{ slot: ${name}, publication: ${name} }`;
  const tables = mappings.map(({ table, key }): PlannedTable => ({ table, key }));
  try {
    const feed = source.changes({ kind: 'slot', slot: name, publication: name });
    const { findings, statements } = await feed.installation(tables);
    const obstacles = findings.filter(({ blocks }) => blocks);
    if (obstacles.length > 0) {
      const texts = obstacles.map(({ table, text }) => (table === null ? text : `${shown(table)}: ${text}`));
      const more = texts.length > OBSTACLES ? [`and ${texts.length - OBSTACLES} more`] : [];
      return {
        state: 'obstacles',
        changes,
        why: [without, `${FEED} It is not possible yet:`, ...texts.slice(0, OBSTACLES), ...more, howTo(sync)],
      };
    }
    if (statements.length > 0) return { state: 'to-install', changes, why: [without, FEED, howTo(sync)] };
    return {
      state: 'ready',
      changes,
      why: ['Changed and deleted rows are found by the change feed, which is installed.'],
    };
  } catch (error) {
    // Such as an account that may not look: the draft does not need a feed.
    if (!(error instanceof PartnerSyncError)) throw error;
    return { state: 'obstacles', changes, why: [without, `${FEED} It could not be examined:`, error.message] };
  }
}

const shown = ({ schema, name }: FeedTable): string => (schema === null ? name : `${schema}.${name}`);

/** The most characters that `changes` allows. */
const LONGEST_SLOT = 54;

const FEED = 'A change feed would tell every change, and deleted rows, too.';

const howTo = (sync: string): string =>
  `To use it, remove the # before changes, then run: partner-sync changes install ${sync}`;

/** How runs find changed rows without a feed. */
function withoutFeed(mappings: readonly DraftMapping[]): string {
  const full = mappings.filter(({ cursor }) => cursor === null).map(({ name }) => name);
  if (full.length === 0) return 'Changed rows are found by cursor columns; deleted rows are not noticed.';
  if (full.length === mappings.length)
    return 'Every run reads all rows, as no table has a column that shows changes; deleted rows are not noticed.';
  return `Changed rows are found by cursor columns, and of ${full.join(', ')} every run reads all rows; deleted rows are not noticed.`;
}
