/** What happened in a run over time, and how it compares with the runs before it: what its report shows. */
import type { EndedRequests, TimeTaken } from './effort.js';
import type { Counts, DeadLetterCount, EndedRunOutcome, RunKind, RunReport } from './run.js';
import type { RunTrigger } from './search-attributes.js';
import type { RunFailure } from './work.js';

/** A run as its report describes it. All times are ISO 8601. Names, counts, times and masked texts; no value of a row. */
export interface RunHistory {
  readonly version: 1;
  readonly run: string;
  readonly sync: string;
  readonly kind: RunKind;
  readonly mode: string;
  readonly trigger: RunTrigger;
  /** The schedule's id, or the account and machine of a command; null if neither is known. */
  readonly startedBy: string | null;
  /** The version of the sync's files. */
  readonly filesVersion: string;
  readonly startedAt: string;
  /** null while it goes on. */
  readonly endedAt: string | null;
  readonly outcome: EndedRunOutcome | 'running';
  readonly failure: RunFailure | null;
  /** When all this was read, by the clock of the ledger. */
  readonly asOf: string;
  readonly total: Counts;
  readonly mappings: readonly MappingHistory[];
  /** How long a period is, in seconds; the same for all of them. */
  readonly periodSeconds: number;
  /** In the order of time; periods in which nothing ended are left out. None once retention has removed the run's partitions. */
  readonly periods: readonly RunPeriod[];
  readonly requests: readonly RequestsOfPeriod[];
  /** The most frequent first. */
  readonly causes: readonly RunCause[];
  /** The partitions that took longest, the longest first. */
  readonly slowest: readonly PartitionHistory[];
  /** The runs of the same kind and mode before it, the latest first. */
  readonly before: readonly EarlierRun[];
  /** What it reported; null for a run that has not ended, and for one that failed. */
  readonly report: RunReport | null;
}

/** One mapping in the run. `seconds`: from its first work to its latest. */
export interface MappingHistory extends Counts, TimeTaken {
  readonly mapping: string;
  readonly seconds: number;
}

/** What the run did for a mapping in a period. `waiting` may be negative: more rows ended their wait than began one. */
export interface RunPeriod extends Counts, TimeTaken {
  readonly mapping: string;
  readonly beginsAt: string;
}

/** Requests that ended in a period. */
export interface RequestsOfPeriod extends EndedRequests {
  readonly beginsAt: string;
}

/** A cause of the run's dead letters, with an example while the ledger has one. */
export interface RunCause extends DeadLetterCount {
  /** How many of them are open now. */
  readonly open: number;
  /** null if none is open. */
  readonly reason: string | null;
  /** The masked value of one of them. */
  readonly shape: string | null;
}

/** What one partition took. `seconds`: from its first work to its latest. */
export interface PartitionHistory extends TimeTaken {
  readonly mapping: string;
  /** What it reads, in words; null if that cannot be shown. */
  readonly label: string | null;
  readonly read: number;
  readonly seconds: number;
}

/** A run to compare with. */
export interface EarlierRun extends Counts {
  readonly run: string;
  readonly startedAt: string;
  readonly seconds: number;
  readonly outcome: EndedRunOutcome;
}

/** What a sync's runs came to on one day (UTC): how many ended in which way, and the rows that they read. */
export interface SyncDay extends Counts {
  readonly sync: string;
  /** `2026-11-26` */
  readonly day: string;
  readonly runs: Readonly<Record<EndedRunOutcome, number>>;
}

/** Seconds from the beginning of the run to its end, or to now. */
export const secondsOf = ({ startedAt, endedAt, asOf }: Pick<RunHistory, 'startedAt' | 'endedAt' | 'asOf'>): number =>
  Math.max(0, (Date.parse(endedAt ?? asOf) - Date.parse(startedAt)) / 1000);
