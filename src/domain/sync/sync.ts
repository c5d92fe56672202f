/** The content of `sync.yaml` and `*.mapping.yaml`, once loaded. */
import type { GuardLimits } from './guard.js';
import type { JsonObject, JsonValue } from '../values/json.js';
import type { Retention } from './retention.js';
import type { FeedConfig } from '../source/change-feed.js';
import type { Relation } from '../source/source.js';

/**
 * How a run reads: new and changed rows, every row, or every row and the records whose rows are gone; `live` delivers what
 * change feeds report, until it is told to stop.
 */
export const RUN_MODES = ['incremental', 'full', 'mirror', 'live'] as const;
export type RunMode = (typeof RUN_MODES)[number];

/** Whether a run of this mode reads mappings as they are declared; backfills, replays and samples have modes of their own. */
export const isRunMode = (mode: string): mode is RunMode => (RUN_MODES as readonly string[]).includes(mode);

/** Which outcomes make the workflow of a run fail: runs with waiting records, those with dead letters as well, or none. */
export const FAIL_ON = ['incomplete', 'dead-letters', 'never'] as const;
export type FailOn = (typeof FAIL_ON)[number];

/** Limits of a sync, from the key `limits` of sync.yaml. Durations in seconds; null: no limit. */
export interface SyncLimits {
  /** How long the last success may be ago; null: as `successLimit` says. */
  readonly success: number | null;
  /** The longest time between two starts, of the schedule for which it is shortest; null if none is declared. */
  readonly scheduledGap: number | null;
  /** How long a schedule may be paused. */
  readonly paused: number;
  /** How long a record may wait. */
  readonly waiting: number;
  readonly deadLetters: number | null;
  /** How long ago the position of a mapping may have moved. */
  readonly lag: number | null;
  /** For how long a run that has not ended may settle nothing. */
  readonly stalled: number;
  /** For how long the steps of a run may fail and be tried again. */
  readonly retrying: number;
}

/** How a sync's source is opened. `connection` is a URL and may contain a secret: never log it. */
export interface SourceConfig {
  readonly connection: string;
  readonly poolMax: number;
  /** Seconds. */
  readonly statementTimeout: number;
}

/** One tenant for all rows, or a column whose value passes through the declared list. */
export type TenantConfig =
  | { readonly kind: 'constant'; readonly tenant: string }
  | { readonly kind: 'column'; readonly column: string; readonly values: ReadonlyMap<string, string> }
  /** The list is in the source; each run reads it before anything else. */
  | {
      readonly kind: 'table';
      readonly column: string;
      readonly relation: Relation;
      /** Columns of the list: the partner's value, and the platform's tenant id that it stands for. */
      readonly value: string;
      readonly tenant: string;
    };

/** Determines the tenant of each row; a list in the source has been read. */
export type TenantRule = Exclude<TenantConfig, { readonly kind: 'table' }>;

/** Limits of uploading and settling. Durations in seconds, sizes in bytes. */
export interface UploadConfig {
  /** Over all processes, as is `requestsPerSecond`. */
  readonly requestsAtOnce: number;
  /** null: no limit. */
  readonly requestsPerSecond: number | null;
  readonly batchSize: number;
  readonly batchBytes: number;
  /** The most characters of an external id that the platform accepts. */
  readonly longestExternalId: number;
  /**
   * How long a batch in doubt is waited for before its records are sent again: the longest that the platform may take
   * to apply a request.
   */
  readonly inDoubtDelay: number;
  /** How long a batch may take before it counts as stuck; its pending records are not waited for. */
  readonly batchDeadline: number;
  /** How long a run polls records that are pending on the platform, before it ends with them waiting. */
  readonly waitForPending: number;
}

export const SCHEDULE_OVERLAPS = ['skip', 'buffer-one'] as const;

/** A Temporal Schedule as sync.yaml declares it: by `cron`, `every` so often, or in mode `live` always on. Durations in seconds. */
export interface ScheduleConfig {
  readonly name: string;
  readonly mode: RunMode;
  readonly cron: string | null;
  readonly every: number | null;
  readonly timezone: string;
  readonly overlap: (typeof SCHEDULE_OVERLAPS)[number];
  readonly catchupWindow: number;
  readonly jitter: number;
  readonly pauseOnFailure: boolean;
}

/** The code of a custom transform, from its file `<name>.transform.js`. */
export interface TransformCode {
  readonly name: string;
  /** Path relative to the mappings folder. */
  readonly file: string;
  /** Its version: a hash of the text. */
  readonly hash: string;
  readonly text: string;
}

/** A transform as written: `trim`, `{ phone: { country: GB } }`, or `{ custom: loyaltyTier }`, which has its own code. */
export interface TransformCall {
  readonly name: string;
  readonly options: JsonObject;
  readonly code?: TransformCode;
}

/**
 * Where the value of a field comes from. `omitNull`: whether null leaves the field out instead of deleting it (4.8).
 */
export type FieldSpec = {
  readonly omitNull: boolean;
} & (
  | { readonly kind: 'column'; readonly column: string; readonly transforms: readonly TransformCall[] }
  /** The first of the columns that is not null once its transforms are through. */
  | { readonly kind: 'coalesce'; readonly columns: readonly string[]; readonly transforms: readonly TransformCall[] }
  | { readonly kind: 'constant'; readonly value: JsonValue }
  | { readonly kind: 'template'; readonly template: string; readonly transforms: readonly TransformCall[] }
  | {
      readonly kind: 'ref';
      /** Name of the parent mapping; the value is the parent's external id. */
      readonly mapping: string;
      readonly form: 'id' | 'object';
      readonly column: string;
      readonly transforms: readonly TransformCall[];
    }
);

/** The column by which incremental runs find new and changed rows. */
export interface CursorSpec {
  readonly column: string;
  /** How far behind its position each incremental run begins to read, in seconds. */
  readonly overlap: number;
  /** IANA name of the zone of a column without one. */
  readonly zone?: string;
}

/** What is done with the record of a deleted row. The platform has no call that deletes one. */
export type DeleteAction =
  | 'ignore'
  | {
      /** Fields and the values that they get. */
      readonly set: JsonObject;
      /** Fields that are deleted. */
      readonly clear: readonly string[];
    };

/** What a mapping does about deleted rows. */
export interface DeletesSpec {
  /** The column that marks a row as deleted; null if only vanished rows count. */
  readonly column: string | null;
  /** The column's values, as the database writes them, that mean deleted; null: true, or any date or time. */
  readonly values: readonly string[] | null;
  readonly action: DeleteAction;
  /** More vanished rows than both of these need approval: a number of records, and a percentage of those accepted. */
  readonly hold: { readonly records: number; readonly percent: number };
}

/** How the records of a mapping are sent; defaults are filled in. */
export interface MappingOptions {
  readonly onConflict: 'upsert' | 'reject';
  readonly ignoreUnknownFields: boolean;
  /** Seconds, 0..86400 (platform-api.md 4.8). */
  readonly dependencyWaitTimeout: number;
  readonly batchSize: number | null;
  /** Characters; the sync's `upload.longestExternalId`. */
  readonly longestExternalId: number;
  /** `off`: the ledger keeps no record of what was sent (docs/adr/0020). */
  readonly ledger: 'full' | 'off';
}

export const SCHEMA_CATEGORIES = [
  'contacts_schema',
  'transactions_schema',
  'custom_schema',
  'combined_schema',
  'locations_schema',
  'customer_fields',
] as const;

/** A `*.schema.json` file: the body of platform-api.md 4.4. */
export interface SchemaDefinitionFile {
  readonly name: string;
  readonly pluralName?: string;
  readonly description?: string;
  readonly category: (typeof SCHEMA_CATEGORIES)[number];
  readonly externalIdField: string;
  readonly schema: JsonObject;
  readonly fieldsToExpose?: readonly JsonObject[];
  readonly exposeNameJsonPath?: string;
  readonly displayMetadata?: JsonObject | null;
}

/** A table whose changes affect rows of a mapping. */
export interface ChangedBy {
  /** As the mapping writes it. */
  readonly table: string;
  /** Columns of the table, each with the column that has the same value: of the key, or of `through`. */
  readonly columns: readonly { readonly name: string; readonly equals: string }[];
  /** Where the keys of the affected rows are found by these values; null if the values are the key. */
  readonly through: Relation | null;
}

/** A mapping, with its schema definition and everything in its file; valid, unless it comes from a file with errors. */
export interface MappingSpec {
  readonly name: string;
  /** Path relative to the mappings folder. */
  readonly file: string;
  readonly schema: SchemaDefinitionFile;
  readonly relation: Relation;
  readonly key: readonly string[];
  readonly cursor: CursorSpec | null;
  /** What tells which of its rows have changed, instead of the cursor; its own, or that of sync.yaml. */
  readonly feed: FeedConfig | null;
  /** The tables whose changes the feed has to report: its own, or those that `changes.tables` names. */
  readonly changedBy: readonly ChangedBy[];
  readonly deletes: DeletesSpec | null;
  readonly fields: ReadonlyMap<string, FieldSpec>;
  readonly options: MappingOptions;
}

/** Whether the mapping reads this table itself, and not a query or a view of it. */
export const isOwnTable = ({ relation }: Pick<MappingSpec, 'relation'>, table: string): boolean =>
  'table' in relation && relation.table === table;

/** Whether something is done about the records of rows that are gone. */
export const removesRecords = ({ deletes }: Pick<MappingSpec, 'deletes'>): boolean =>
  deletes !== null && deletes.action !== 'ignore';

/** What the external ids of the mapping are made of, as text: records get other ids if it changes. */
export const idRuleOf = ({ fields, schema }: Pick<MappingSpec, 'fields' | 'schema'>): string =>
  JSON.stringify(fields.get(schema.externalIdField) ?? null);

/** A sync as its files declare it: what a run works by. */
export interface SyncSpec {
  readonly name: string;
  readonly source: SourceConfig;
  readonly tenant: TenantConfig;
  readonly mode: RunMode;
  readonly upload: UploadConfig;
  readonly failOn: FailOn;
  /** null: no run is ever on hold. */
  readonly guard: GuardLimits | null;
  readonly limits: SyncLimits;
  readonly retention: Retention;
  readonly schedules: readonly ScheduleConfig[];
  /** In order of file name; the running order comes from {@link stagesOf}. */
  readonly mappings: readonly MappingSpec[];
  /** Hash over the files that decide what is sent; a run keeps to the one that it began with. */
  readonly version: string;
}
