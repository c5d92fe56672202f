/** Which parts of a slot's installation are there already, and how they are, as the catalogue says. */
import type { FeedTable } from '../../../domain/source/change-feed.js';
import type { Session } from '../../dialect.js';
import type { SlotConfig } from './slot-config.js';
import { FUNCTION_SCHEMA } from './slot-functions.js';
import { leftOutRows, missingKinds, slotProblem } from './slot-state.js';

/** A publication with its tables. */
export interface PublicationPart {
  /** Whether it is of all tables, so that none can be named. */
  readonly isOfAllTables: boolean;
  /** The tables that were named; those of a partitioned one may be reported in its place. */
  readonly members: readonly FeedTable[];
  /** The tables that it reports. `columns`: those of which values are sent; null before PostgreSQL 15, which sends whole rows. */
  readonly reported: readonly { readonly table: FeedTable; readonly columns: readonly string[] | null }[];
  /** The kinds of changes that it does not publish, as a sentence; null if it publishes all. */
  readonly missingKinds: string | null;
  /** Of which tables it leaves out rows, as a sentence; null if of none. */
  readonly leftOutRows: string | null;
}

/** The role that owns the functions. */
export interface RolePart {
  readonly canLogin: boolean;
  readonly canReadSlots: boolean;
  readonly isSuperuser: boolean;
}

/** One of the two functions. */
export interface FunctionPart {
  readonly name: string;
  readonly body: string;
  readonly language: string;
  readonly result: string;
  /** Whether it runs with the rights of its owner, and not of whoever calls it. */
  readonly runsAsOwner: boolean;
  readonly settings: readonly string[] | null;
  readonly owner: string;
  /** Whether everybody may call it. */
  readonly isPublic: boolean;
  /** Whether the account may call it. */
  readonly isGranted: boolean;
}

/** All parts; null stands for one that is not there. */
export interface SlotParts {
  readonly publication: PublicationPart | null;
  readonly role: RolePart | null;
  /** The schema of the functions. `isGranted`: whether the account may use it; `isEmpty`: whether nothing is in it. */
  readonly schema: { readonly isGranted: boolean; readonly isEmpty: boolean } | null;
  readonly functions: readonly FunctionPart[];
  /**
   * `isOfThisKind`: whether it is one of this database that tells changes as ours does; `problem`: why it cannot be read, as
   * a sentence.
   */
  readonly slot: { readonly isOfThisKind: boolean; readonly problem: string | null } | null;
}

/** The parts, and where they are. */
export interface FoundParts {
  /** Which database of which server; only to be compared. */
  readonly database: string;
  /** The major version of the server. */
  readonly version: number;
  /** Who asks, and will read the slot. */
  readonly account: string;
  readonly parts: SlotParts;
}

/** As if nothing had been installed yet. */
export const NO_PARTS: SlotParts = { publication: null, role: null, schema: null, functions: [], slot: null };

/** Which database this is: no two servers were started in the same microsecond. Every account may ask for it. */
export const DATABASE_SQL = `(SELECT extract(epoch FROM pg_postmaster_start_time())::text || '/' || oid
    FROM pg_database WHERE datname = current_database())`;

/** As JSON, so that a column that a version lacks is absent. $1 is the slot and $2 the publication. */
const PARTS_SQL = `
  SELECT json_build_object(
    'database', ${DATABASE_SQL},
    'databaseName', current_database(),
    'version', current_setting('server_version_num')::int / 10000,
    'account', current_user,
    'parts', json_build_object(
      'publication', (SELECT to_jsonb(p) || jsonb_build_object(
          'members', (SELECT coalesce(jsonb_agg(jsonb_build_object('schema', nspname, 'name', relname)), '[]')
            FROM pg_publication_rel r JOIN pg_class c ON c.oid = prrelid JOIN pg_namespace n ON n.oid = relnamespace
            WHERE prpubid = p.oid),
          'reported', (SELECT coalesce(jsonb_agg(to_jsonb(t)), '[]') FROM pg_publication_tables t WHERE t.pubname = p.pubname))
        FROM pg_publication p WHERE pubname = $2),
      'role', (SELECT json_build_object('canLogin', rolcanlogin, 'canReadSlots', rolreplication, 'isSuperuser', rolsuper)
        FROM pg_roles WHERE rolname = $1 || '_owner'),
      'schema', (SELECT json_build_object('isGranted', has_schema_privilege(n.oid, 'USAGE'),
          'isEmpty', NOT EXISTS (SELECT FROM pg_proc WHERE pronamespace = n.oid)
            AND NOT EXISTS (SELECT FROM pg_class WHERE relnamespace = n.oid))
        FROM pg_namespace n WHERE nspname = '${FUNCTION_SCHEMA}'),
      'functions', (SELECT coalesce(json_agg(json_build_object(
          'name', proname, 'body', prosrc, 'language', lanname, 'result', pg_get_function_result(p.oid),
          'runsAsOwner', prosecdef, 'settings', proconfig, 'owner', pg_get_userbyid(proowner),
          'isPublic', EXISTS (SELECT FROM aclexplode(coalesce(proacl, acldefault('f', proowner))) WHERE grantee = 0),
          'isGranted', has_function_privilege(p.oid, 'EXECUTE'))), '[]')
        FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace JOIN pg_language l ON l.oid = prolang
        WHERE nspname = '${FUNCTION_SCHEMA}' AND proname IN ($1 || '_peek', $1 || '_advance')
          AND oidvectortypes(proargtypes) = 'pg_lsn'),
      'slot', (SELECT to_jsonb(s) || jsonb_build_object(
          'isOfThisKind', coalesce(plugin = 'pgoutput' AND database = current_database(), false))
        FROM pg_replication_slots s WHERE slot_name = $1)))`;

type SlotRow = Parameters<typeof slotProblem>[1];
type PublicationRow = Parameters<typeof missingKinds>[1] & {
  readonly puballtables: boolean;
  readonly members: readonly FeedTable[];
  readonly reported: readonly (Parameters<typeof leftOutRows>[1][number] & { readonly attnames?: readonly string[] })[];
};

interface Found extends Omit<FoundParts, 'parts'> {
  readonly databaseName: string;
  readonly parts: Omit<SlotParts, 'publication' | 'slot'> & {
    readonly publication: PublicationRow | null;
    readonly slot: (SlotRow & { readonly isOfThisKind: boolean }) | null;
  };
}

/** Asks the server. Throws what the driver does. */
export async function readSlotParts(run: Session['run'], config: SlotConfig): Promise<FoundParts> {
  const { rows } = await run({ sql: PARTS_SQL, bindings: [config.slot, config.publication] });
  const { databaseName, parts, ...found } = JSON.parse(rows[0]![0]!) as Found;
  const { publication, slot, ...others } = parts;
  return {
    ...found,
    parts: {
      ...others,
      publication: publication === null ? null : publicationPart(config, publication),
      slot:
        slot === null
          ? null
          : { isOfThisKind: slot.isOfThisKind, problem: slotProblem(config, slot, databaseName)?.text ?? null },
    },
  };
}

const publicationPart = (config: SlotConfig, row: PublicationRow): PublicationPart => ({
  isOfAllTables: row.puballtables,
  members: row.members,
  reported: row.reported.map(({ schemaname, tablename, attnames = null }) => ({
    table: { schema: schemaname, name: tablename },
    columns: attnames,
  })),
  missingKinds: missingKinds(config, row),
  leftOutRows: leftOutRows(config, row.reported),
});
