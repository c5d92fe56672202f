/**
 * Turns a sync.yaml whose form is valid into a `SyncHead`: durations in seconds, sizes in bytes, defaults filled in.
 */
import { durationSeconds, secondsOr, sizeBytes } from '../../domain/values/duration.js';
import type { GuardLimits } from '../../domain/sync/guard.js';
import { LONGEST_EXTERNAL_ID } from '../../domain/records/external-id.js';
import type { FeedConfig } from '../../domain/source/change-feed.js';
import type { Relation } from '../../domain/source/source.js';
import type { FindingKind } from '../../domain/sync/finding.js';
import type { RunMode, ScheduleConfig, SyncSpec, TenantConfig } from '../../domain/sync/sync.js';
import type { LanguageFile } from './language-file.js';
import type { Path } from './place.js';
import { readLimits, type LimitsFile } from './read-limits.js';
import { readRetention, type RetentionFile } from './read-retention.js';
import { readFeed, type FeedFile } from './read-feed.js';

/** The file's form, which `sync.schema.json` has checked. */
interface SyncFile extends LimitsFile, RetentionFile {
  source: { connection: string; pool?: { max?: number }; statementTimeout?: string };
  tenant: TenantFile;
  mode?: RunMode;
  changes?: FeedFile;
  upload?: {
    requestsAtOnce?: number;
    requestsPerSecond?: number;
    batchSize?: number;
    batchBytes?: string;
    longestExternalId?: number;
    inDoubtDelay?: string;
    batchDeadline?: string;
    waitForPending?: string;
  };
  guard?: { changed?: string; deadLettered?: string; gone?: string; records?: number; wait?: string };
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

/** What sync.yaml declares; `feed` for mappings that do not declare another, or none. */
export type SyncHead = Omit<SyncSpec, 'name' | 'mappings' | 'version'> & { readonly feed: FeedConfig | null };

/** Reads a file whose form is valid. Reports what a JSON Schema cannot express: names that are used twice. */
export function readSync(file: LanguageFile): SyncHead {
  const value = file.value as unknown as SyncFile;
  const { source, tenant, mode = 'incremental', changes, upload = {}, failOn, guard, schedules = [] } = value;
  const names = schedules.map((schedule) => schedule.name);
  names.forEach((name, index) => {
    if (names.indexOf(name) < index)
      file.report('duplicate_name', ['schedules', index, 'name'], 'another schedule above has this name already');
  });
  schedules.forEach((schedule, index) => {
    const problem = timeProblem(schedule, schedule.mode ?? mode);
    if (problem !== null) file.report(problem.kind, ['schedules', index], problem.message);
  });
  return {
    source: {
      connection: source.connection,
      poolMax: source.pool?.max ?? 4,
      statementTimeout: secondsOr(source.statementTimeout, 'sourceStatement'),
    },
    tenant: readTenant(tenant),
    mode,
    feed: changes === undefined ? null : readFeed(changes, file),
    upload: {
      requestsAtOnce: upload.requestsAtOnce ?? 8,
      requestsPerSecond: upload.requestsPerSecond ?? null,
      batchSize: upload.batchSize ?? 500,
      batchBytes: sizeBytes(upload.batchBytes ?? '4MiB'),
      longestExternalId: upload.longestExternalId ?? LONGEST_EXTERNAL_ID,
      inDoubtDelay: secondsOr(upload.inDoubtDelay, 'inDoubtDelay'),
      batchDeadline: secondsOr(upload.batchDeadline, 'batchDeadline'),
      waitForPending: secondsOr(upload.waitForPending, 'waitForPending'),
    },
    failOn: failOn ?? 'incomplete',
    guard: guard === undefined ? null : readGuard(guard),
    limits: readLimits(value),
    retention: readRetention(value),
    schedules: schedules.map((schedule) => readSchedule(schedule, mode)),
  };
}

/** Where the file sets this mode, for all runs or for a schedule; null if nowhere. */
export function placeOfMode({ mode, schedules }: Pick<SyncHead, 'mode' | 'schedules'>, wanted: RunMode): Path | null {
  if (mode === wanted) return ['mode'];
  const schedule = schedules.findIndex((each) => each.mode === wanted);
  return schedule < 0 ? null : ['schedules', schedule, 'mode'];
}

/** Percentages are texts such as `30 %`, so that nobody takes them for numbers of records. */
const readGuard = ({ changed, deadLettered, gone, records, wait }: NonNullable<SyncFile['guard']>): GuardLimits => ({
  changed: parseFloat(changed ?? '30 %'),
  deadLettered: parseFloat(deadLettered ?? '5 %'),
  gone: parseFloat(gone ?? '1 %'),
  records: records ?? 100,
  wait: secondsOr(wait, 'guardWait'),
});

/** A list of tenants in the source stays a description here; each run reads the list. */
function readTenant(tenant: TenantFile): TenantConfig {
  if (typeof tenant === 'string') return { kind: 'constant', tenant };
  const { column } = tenant;
  if ('values' in tenant) return { kind: 'column', column, values: new Map(Object.entries(tenant.values)) };
  const { value, tenant: id, ...relation } = tenant.from;
  return { kind: 'table', column, relation, value, tenant: id };
}

/** Only a run that follows change feeds needs no time at which it begins: it has no end of its own. */
function timeProblem({ cron, every }: ScheduleFile, mode: RunMode): { kind: FindingKind; message: string } | null {
  const time = cron === undefined ? every && 'every' : 'cron';
  if (mode !== 'live' && time === undefined)
    return { kind: 'missing_key', message: `a schedule in mode ${mode} needs one of: cron, every` };
  if (mode !== 'live' || time === undefined) return null;
  const message = `a schedule in mode live is always on: write its name and "mode: live" only, without "${time}"`;
  return { kind: 'not_allowed', message };
}

function readSchedule(schedule: ScheduleFile, mode: RunMode): ScheduleConfig {
  return {
    name: schedule.name,
    mode: schedule.mode ?? mode,
    cron: schedule.cron ?? null,
    every: schedule.every === undefined ? null : durationSeconds(schedule.every),
    timezone: schedule.timezone ?? 'UTC',
    overlap: schedule.overlap ?? 'skip',
    catchupWindow: secondsOr(schedule.catchupWindow, 'catchupWindow'),
    jitter: secondsOr(schedule.jitter, 'scheduleJitter'),
    pauseOnFailure: schedule.pauseOnFailure ?? false,
  };
}
