/** The words of the mapping language, as `sync.yaml` and `*.mapping.yaml` declare them once loaded. */
import type { JsonObject, JsonValue } from './json.js';
import type { Relation } from './source.js';

export const RUN_MODES = ['incremental', 'full', 'mirror'] as const;
export type RunMode = (typeof RUN_MODES)[number];

/** How a sync's source is opened. `connection` is a URL and may hold a secret: never log it. */
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

/** Tells the tenant of each row: what a list in the source comes to once it is read. */
export type TenantRule = Exclude<TenantConfig, { readonly kind: 'table' }>;

/** Limits of uploading and settling. Durations in seconds, sizes in bytes. */
export interface UploadConfig {
  readonly requestsAtOnce: number;
  readonly batchSize: number;
  readonly batchBytes: number;
  /** Characters of an external id that the platform takes. */
  readonly longestExternalId: number;
  /** How long an answer that was lost is waited for before its records are sent again: the platform's longest delay. */
  readonly inDoubtDelay: number;
  /** How long a batch may take beyond its dependency wait before it counts as stuck. */
  readonly batchDeadline: number;
  /** How long a run follows records that the platform holds for a dependency before it ends with them waiting. */
  readonly followFor: number;
}

export const SCHEDULE_OVERLAPS = ['skip', 'buffer-one'] as const;

/** A Temporal Schedule as sync.yaml declares it. Durations in seconds. */
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

/** A transform as written: `trim`, or `{ phone: { country: GB } }`. */
export interface TransformCall {
  readonly name: string;
  readonly options: JsonObject;
}

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

export interface CursorSpec {
  readonly column: string;
  /** Seconds that each incremental run reads again behind its position. */
  readonly overlap: number;
  /** IANA name of the zone of a column without one. */
  readonly zone?: string;
}

/** What becomes of the record of a deleted row. The platform has no call that deletes one. */
export type DeleteAction =
  | 'ignore'
  | {
      /** Fields and the values that they get. */
      readonly set: JsonObject;
      /** Fields that are deleted. */
      readonly clear: readonly string[];
    };

export interface DeletesSpec {
  /** Says whether a row is deleted; null where only vanished rows are. */
  readonly column: string | null;
  /** The column's values, as the database writes them, that mean deleted; null: true, or any date or time. */
  readonly values: readonly string[] | null;
  readonly action: DeleteAction;
  /** When more vanished rows than both wait for a person's approval: so many records, and percent of those accepted. */
  readonly hold: { readonly records: number; readonly percent: number };
}

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

export interface MappingSpec {
  readonly name: string;
  /** Path relative to the mappings folder. */
  readonly file: string;
  readonly schema: SchemaDefinitionFile;
  readonly relation: Relation;
  readonly key: readonly string[];
  readonly cursor: CursorSpec | null;
  readonly deletes: DeletesSpec | null;
  readonly fields: ReadonlyMap<string, FieldSpec>;
  readonly options: MappingOptions;
}

export interface SyncSpec {
  readonly name: string;
  readonly source: SourceConfig;
  readonly tenant: TenantConfig;
  readonly mode: RunMode;
  readonly upload: UploadConfig;
  readonly schedules: readonly ScheduleConfig[];
  /** In order of file name; the running order comes from {@link stagesOf}. */
  readonly mappings: readonly MappingSpec[];
  /** Hash over the files that decide what is sent; pinned in each run. */
  readonly version: string;
}
