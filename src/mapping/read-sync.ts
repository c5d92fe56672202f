/** sync.yaml, once its form is right, to the words of the domain; durations to seconds, sizes to bytes. */
import { durationSeconds, sizeBytes } from '../domain/duration.js';
import { LONGEST_EXTERNAL_ID } from '../domain/external-id.js';
import type { Relation } from '../domain/source.js';
import type { RunMode, ScheduleConfig, SourceConfig, TenantConfig, UploadConfig } from '../domain/sync.js';
import type { LanguageFile } from './language-file.js';

/** The file's form, as `sync.schema.json` has checked it. */
interface SyncFile {
  source: { connection: string; pool?: { max?: number }; statementTimeout?: string };
  tenant: TenantFile;
  mode?: RunMode;
  upload?: {
    requestsAtOnce?: number;
    batchSize?: number;
    batchBytes?: string;
    longestExternalId?: number;
    inDoubtDelay?: string;
    batchDeadline?: string;
    followFor?: string;
  };
  schedules?: ScheduleFile[];
}

type TenantFile =
  | string
  | { column: string; values: Record<string, string> }
  | { column: string; from: Relation & { value: string; tenant: string } };

interface ScheduleFile {
  name: string;
  mode?: RunMode;
  cron?: string;
  every?: string;
  timezone?: string;
  overlap?: ScheduleConfig['overlap'];
  catchupWindow?: string;
  jitter?: string;
  pauseOnFailure?: boolean;
}

export interface SyncHead {
  readonly source: SourceConfig;
  readonly tenant: TenantConfig;
  readonly mode: RunMode;
  readonly upload: UploadConfig;
  readonly schedules: readonly ScheduleConfig[];
}

/** Reports what the form cannot say: names used twice. */
export function readSync(file: LanguageFile): SyncHead {
  const { source, tenant, mode = 'incremental', upload = {}, schedules = [] } = file.value as unknown as SyncFile;
  const names = schedules.map((schedule) => schedule.name);
  names.forEach((name, index) => {
    if (names.indexOf(name) < index)
      file.report('duplicate_name', ['schedules', index, 'name'], 'another schedule above has this name already');
  });
  return {
    source: {
      connection: source.connection,
      poolMax: source.pool?.max ?? 4,
      statementTimeout: durationSeconds(source.statementTimeout ?? '30s'),
    },
    tenant: readTenant(tenant),
    mode,
    upload: {
      requestsAtOnce: upload.requestsAtOnce ?? 8,
      batchSize: upload.batchSize ?? 500,
      batchBytes: sizeBytes(upload.batchBytes ?? '4MiB'),
      longestExternalId: upload.longestExternalId ?? LONGEST_EXTERNAL_ID,
      inDoubtDelay: durationSeconds(upload.inDoubtDelay ?? '30s'),
      batchDeadline: durationSeconds(upload.batchDeadline ?? '10m'),
      followFor: durationSeconds(upload.followFor ?? '10m'),
    },
    schedules: schedules.map((schedule) => readSchedule(schedule, mode)),
  };
}

function readTenant(tenant: TenantFile): TenantConfig {
  if (typeof tenant === 'string') return { kind: 'constant', tenant };
  const { column } = tenant;
  if ('values' in tenant) return { kind: 'column', column, values: new Map(Object.entries(tenant.values)) };
  const { value, tenant: id, ...relation } = tenant.from;
  return { kind: 'table', column, relation, value, tenant: id };
}

function readSchedule(schedule: ScheduleFile, mode: RunMode): ScheduleConfig {
  return {
    name: schedule.name,
    mode: schedule.mode ?? mode,
    cron: schedule.cron ?? null,
    every: schedule.every === undefined ? null : durationSeconds(schedule.every),
    timezone: schedule.timezone ?? 'UTC',
    overlap: schedule.overlap ?? 'skip',
    catchupWindow: durationSeconds(schedule.catchupWindow ?? '10m'),
    jitter: durationSeconds(schedule.jitter ?? '0s'),
    pauseOnFailure: schedule.pauseOnFailure ?? false,
  };
}
