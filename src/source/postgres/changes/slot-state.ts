/** What a server says of a slot and its publication, and what speaks against reading them. */
import type { FeedPosition, FeedState, ReportedTable } from '../../../domain/source/change-feed.js';
import { errorCode } from '../../../domain/values/foreign-text.js';
import type { Session } from '../../dialect.js';
import { logPosition, logPositionText } from './log-position.js';
import type { SlotConfig } from './slot-config.js';
import { quotedName } from './quoted-names.js';
import { FUNCTIONS_SQL, type SlotFunction } from './slot-functions.js';

/** Why a slot cannot be read. `isLost`: what it has not been asked for yet can never be read any more. */
export interface SlotProblem {
  readonly text: string;
  readonly isLost: boolean;
}

/** A slot at one moment. */
export interface SlotState extends Omit<FeedState, 'problem'> {
  readonly problem: SlotProblem | null;
  /** What its positions are of; differs if the server, the database or the publication was replaced. */
  readonly origin: string;
  /** Up to where changes have been confirmed; null if there is no slot. */
  readonly confirmed: bigint | null;
  /** Up to where the log has been written to disk. */
  readonly written: bigint;
  /** The functions that were made for this account, if there are any. */
  readonly functions: readonly SlotFunction[];
}

/** A row of pg_replication_slots; versions before 13, 14, 16 and 17 lack some columns. */
interface Slot {
  readonly plugin: string | null;
  readonly database: string | null;
  readonly datoid: string;
  readonly confirmed_flush_lsn: string | null;
  readonly two_phase?: boolean;
  readonly wal_status?: string | null;
  readonly safe_wal_size?: number | null;
  readonly conflicting?: boolean | null;
  readonly invalidation_reason?: string | null;
}

interface Publication {
  readonly oid: string;
  /** Another one once the publication was altered, and not if only its tables were. */
  readonly version: string;
  readonly pubinsert: boolean;
  readonly pubupdate: boolean;
  readonly pubdelete: boolean;
  readonly pubtruncate: boolean;
}

interface PublishedTable {
  readonly schemaname: string;
  readonly tablename: string;
  readonly since?: string;
  readonly identity?: readonly string[] | null;
  /** Since 15. */
  readonly rowfilter?: string | null;
}

interface Found {
  readonly database: string;
  readonly standby: boolean;
  /** Another one on each server that was a standby, or a copy that was restored. */
  readonly timeline: string;
  readonly written: string;
  readonly kept: string | null;
  readonly slot: Slot | null;
  readonly publication: Publication | null;
  readonly tables: readonly PublishedTable[];
  readonly functions: readonly SlotFunction[];
}

/**
 * Since when a table is published: its entry is another one once it was taken out, and a table has another number once it was made
 * anew. And the columns that identify its rows, as key-columns.ts finds them in messages.
 */
const SINCE_SQL = `(SELECT jsonb_build_object('since', coalesce(r.oid, c.oid)::text, 'identity', (
    SELECT json_agg(a.attname) FROM pg_index x
      CROSS JOIN LATERAL unnest(x.indkey::int2[]) WITH ORDINALITY AS k(attnum, place)
      JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = k.attnum
    WHERE x.indrelid = c.oid AND k.place <= x.indnkeyatts
      AND CASE c.relreplident WHEN 'i' THEN x.indisreplident ELSE x.indisprimary END))
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_publication_rel r ON r.prrelid = c.oid AND r.prpubid = (SELECT oid FROM pg_publication WHERE pubname = $2)
  WHERE n.nspname = t.schemaname AND c.relname = t.tablename)`;

/** As JSON, so that a column that a version lacks is absent. $1 is the slot and $2 the publication. */
const stateSql = (system: string, isFull: boolean): string => `
  SELECT ${system}, json_build_object(
    'database', current_database(),
    'standby', pg_is_in_recovery(),
    'timeline', CASE WHEN pg_is_in_recovery() THEN '' ELSE left(pg_walfile_name(pg_current_wal_flush_lsn()), 8) END,
    'written', CASE WHEN pg_is_in_recovery() THEN '0/0' ELSE pg_current_wal_flush_lsn() END,
    'kept', (SELECT pg_wal_lsn_diff(pg_current_wal_flush_lsn(), restart_lsn)::text FROM pg_replication_slots
      WHERE slot_name = $1 AND NOT pg_is_in_recovery()),
    'slot', (SELECT to_json(s) FROM pg_replication_slots s WHERE slot_name = $1),
    'publication', (SELECT to_jsonb(p) || jsonb_build_object('version', p.xmin::text) FROM pg_publication p WHERE pubname = $2),
    'tables', (SELECT coalesce(json_agg(to_jsonb(t) - 'attnames'${isFull ? ` || ${SINCE_SQL}` : ''}), '[]') FROM pg_publication_tables t WHERE pubname = $2),
    'functions', (SELECT coalesce(json_agg(f), '[]') FROM (${FUNCTIONS_SQL}) f))`;

const SYSTEM_SQL = '(SELECT system_identifier::text FROM pg_control_system())';
const NOT_PERMITTED = '42501';

/**
 * Asks the server. Throws what the driver does.
 *
 * @param isFull whether to ask since when each table is published, which each reading need not know
 */
export async function readSlotState(run: Session['run'], config: SlotConfig, isFull = false): Promise<SlotState> {
  const bindings = [config.slot, config.publication];
  const { rows } = await run({ sql: stateSql(SYSTEM_SQL, isFull), bindings }).catch((error: unknown) => {
    if (errorCode(error) !== NOT_PERMITTED) throw error;
    // Everybody may call pg_control_system() unless that was revoked.
    return run({ sql: stateSql("''", isFull), bindings });
  });
  const [system, found] = rows[0]!;
  return slotStateOf(config, system!, JSON.parse(found!) as Found);
}

function slotStateOf(config: SlotConfig, system: string, found: Found): SlotState {
  const { slot, publication, tables } = found;
  const problem = problemOf(config, found);
  const confirmed = slot?.confirmed_flush_lsn ?? null;
  // A publication that was made anew under its name has reported nothing in between, and one that was altered may have left out what
  // it publishes again by now.
  const published = publication === null ? '' : `${publication.oid}/${publication.version}`;
  const origin = [system, found.timeline, slot?.datoid ?? '', config.slot, published].join(':');
  const written = logPosition(found.written);
  return {
    problem,
    origin,
    position: problem === null ? { origin, at: confirmed! } : null,
    confirmed: confirmed === null ? null : logPosition(confirmed),
    written,
    unread:
      problem === null
        ? { bytes: Number(written - logPosition(confirmed!)), through: { origin, at: logPositionText(written) } }
        : null,
    keptBytes: found.kept === null ? null : Number(found.kept),
    bytesLeft: slot?.safe_wal_size ?? null,
    tables: tables.map(({ schemaname, tablename, since, identity }): ReportedTable => ({
      schema: schemaname,
      name: tablename,
      ...(since !== undefined && { since }),
      ...(identity !== undefined && { identity }),
    })),
    functions: found.functions,
  };
}

function problemOf(config: SlotConfig, found: Found): SlotProblem | null {
  const { slot, publication } = found;
  if (found.standby) return usable('the server is a standby; a slot is read from the primary');
  if (slot === null) return lost(`there is no slot "${config.slot}"`);
  return (
    slotProblem(config, slot, found.database) ??
    (publication === null
      ? lost(`there is no publication "${config.publication}"`)
      : publicationProblem(config, publication, found)) ??
    found.functions.filter(({ isOfPublication }) => !isOfPublication).map(otherPublication(config))[0] ??
    null
  );
}

/** Why a slot of this name is not one that can be read in the database; null if it is. */
export function slotProblem({ slot: name }: SlotConfig, slot: Slot, database: string): SlotProblem | null {
  if (slot.plugin !== 'pgoutput')
    return lost(`the slot "${name}" is one of ${slot.plugin ?? 'physical replication'}; pgoutput was expected`);
  if (slot.database !== database)
    return lost(`the slot "${name}" belongs to the database "${slot.database}"; "${database}" was expected`);
  if (slot.two_phase === true)
    return lost(`the slot "${name}" reports transactions before they are committed; create it without two_phase`);
  const reason = slot.invalidation_reason ?? (slot.conflicting === true ? 'a conflict' : null);
  if (slot.wal_status === 'lost' || reason !== null)
    return lost(`the server has given up the slot "${name}"${reason === null ? '' : ` (${reason})`}`);
  return slot.confirmed_flush_lsn === null ? lost(`the slot "${name}" is still being created`) : null;
}

/** The statement that makes a publication publish every kind of change. */
export const publishAll = (publication: string): string =>
  `ALTER PUBLICATION ${quotedName(publication)} SET (publish = 'insert, update, delete, truncate')`;

/** Which kinds of changes are missing in a publication; null if none is. */
export function missingKinds(
  { publication: name }: SlotConfig,
  { pubinsert, pubupdate, pubdelete, pubtruncate }: Publication,
): string | null {
  const published = { insert: pubinsert, update: pubupdate, delete: pubdelete, truncate: pubtruncate };
  const missing = Object.entries(published).filter(([, isPublished]) => !isPublished);
  return missing.length === 0
    ? null
    : `the publication "${name}" does not publish: ${missing.map(([kind]) => kind).join(', ')}`;
}

/** Of which tables a publication leaves out rows; null if of none. */
export function leftOutRows({ publication: name }: SlotConfig, tables: readonly PublishedTable[]): string | null {
  const names = tables
    .filter(({ rowfilter }) => rowfilter != null)
    .map(({ schemaname, tablename }) => `${schemaname}.${tablename}`);
  return names.length === 0
    ? null
    : `the publication "${name}" leaves out rows of ${names.join(', ')}; remove the WHERE of these tables`;
}

function publicationProblem(config: SlotConfig, publication: Publication, { tables }: Found): SlotProblem | null {
  const { publication: name } = config;
  const missing = missingKinds(config, publication);
  if (missing !== null) return usable(`${missing}; ${publishAll(name)}`);
  if (tables.length === 0) return usable(`the publication "${name}" has no tables`);
  const leftOut = leftOutRows(config, tables);
  return leftOut === null ? null : usable(leftOut);
}

const otherPublication =
  ({ publication }: SlotConfig) =>
  ({ name }: SlotFunction): SlotProblem =>
    usable(`the function ${name} is not about the publication "${publication}"`);

const lost = (text: string): SlotProblem => ({ text, isLost: true });
const usable = (text: string): SlotProblem => ({ text, isLost: false });

/** Why changes after `position` cannot be read any more from a slot that itself can; null if they can. */
export function lostSince(position: FeedPosition, state: SlotState): string | null {
  if (state.origin !== position.origin)
    return 'the server, the database, the slot or the publication is another one than before, or was altered';
  const at = logPosition(position.at);
  if (state.confirmed! > at)
    return 'changes up to a later position have been confirmed: the slot was created anew, or somebody else reads it';
  // As after a restore of a copy of its files: what is written from here on would be taken for known.
  if (at > state.written) return 'the server has gone back to an earlier state';
  return null;
}
