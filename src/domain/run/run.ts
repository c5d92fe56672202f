/**
 * Runs: their inputs, outcomes, counts and reports.
 *
 * Every row that is read is counted with exactly one outcome, so that at the end of a run, for each mapping and
 * tenant: read = accepted + unchanged + waiting + deadLettered.
 */
import { quantity } from '../values/quantity.js';
import type { Hold } from '../sync/guard.js';
import { checkReplay, type DeadLetterFilter } from '../records/dead-letter.js';
import { PartnerSyncError, type ErrorCode } from '../errors.js';
import { isSyncName, nearest } from '../values/names.js';
import { quoted } from '../values/quoted.js';
import { isText } from '../values/text.js';
import { needsAttention, type RemovalPlan } from './removal-plan.js';
import type { SourceKey } from '../source/source.js';
import { RUN_MODES, type RunMode } from '../sync/sync.js';

/** Input of the `sync` workflow, as typed into the Start Workflow form: `{"sync":"online-retail"}`. */
export interface SyncInput {
  readonly sync: string;
  /** Default: the mode that sync.yaml declares. */
  readonly mode?: RunMode;
  /** Only these mappings; default all. */
  readonly mappings?: readonly string[];
  /** Ids of removal plans that a person has approved; with mode `mirror`. */
  readonly approve?: readonly string[];
  /** Tenants that no row belongs to any more, whose records are to be marked, too; with mode `mirror`. */
  readonly formerTenants?: readonly string[];
  /** A sample: the first rows of each mapping by key, at most this many, and their parents; moves no position. */
  readonly limit?: number;
  /** Accept changed column types, for which a run otherwise skips a mapping (`source_changed`). */
  readonly acceptChanges?: boolean;
  /** Set when a long run continues as a new execution; never typed by people. */
  readonly continues?: ContinuedRun;
  /** Set when a workflow in mode `live` begins its next run: how many it has ended. Never typed by people. */
  readonly runsBefore?: number;
}

/** Input of the `backfill` workflow: a range of the cursor, keys or external ids of one mapping, or dead letters. */
export interface BackfillInput {
  readonly sync: string;
  readonly mappings?: readonly string[];
  /** Inclusive lower and exclusive upper bound of the cursor column, as the database reads them. */
  readonly from?: string;
  readonly to?: string;
  readonly mapping?: string;
  readonly externalIds?: readonly string[];
  /**
   * Of the one mapping: rows after the one key (exclusive) and up to the other (inclusive); a value for each key
   * column.
   */
  readonly afterKey?: SourceKey;
  readonly throughKey?: SourceKey;
  /** Instead: the rows of dead letters, read and mapped again; `{}` for all of them. */
  readonly replay?: Omit<DeadLetterFilter, 'mappings'>;
  readonly acceptChanges?: boolean;
  readonly continues?: ContinuedRun;
}

/** What a continued execution must know of the one before it. */
export interface ContinuedRun {
  readonly runId: string;
  /** How many stages are finished. */
  readonly stagesDone: number;
  /** Until when it polls pending records at its end, in milliseconds since 1970; absent if that has not begun. */
  readonly pollUntil?: number;
  /** What it has left to sweep; absent if it has not read every row yet. */
  readonly sweep?: RemainingSweep;
  /** Mappings whose removals nobody has approved in time. */
  readonly notApproved?: readonly string[];
  /** The schema drift that the first execution found. */
  readonly skipped: readonly SkippedMapping[];
  readonly notes: readonly MappingNote[];
}

/** Open dead letters whose rows are still to be looked for. */
export interface RemainingSweep {
  /** The mappings that are not looked through yet; none, once all are. */
  readonly mappings: readonly string[];
  /** Of the first of these mappings: the id of the dead letter after which it goes on; `'0'` begins. */
  readonly after: string;
}

/** A remark on a mapping, for the report. */
export interface MappingNote {
  readonly mapping: string;
  readonly message: string;
}

/** A mapping that a run holds. */
export interface HoldUntil extends Hold {
  /** When the run stops waiting for approval, ISO 8601. */
  readonly until: string;
}

/** A mapping that did not run because of schema drift. */
export interface SkippedMapping extends MappingNote {
  readonly code: ErrorCode;
}

/** The most rows of a sample in each mapping: few enough to be read twice. */
export const LARGEST_SAMPLE = 1000;

/** The kinds of runs, which are the types of their workflows. */
export type RunKind = 'sync' | 'backfill';
export type RunInput = SyncInput & BackfillInput;

/** Rows by outcome; `read` is the sum of the others once a run has read everything. */
export interface Counts {
  readonly read: number;
  readonly accepted: number;
  readonly unchanged: number;
  readonly waiting: number;
  readonly deadLettered: number;
}

export const NO_COUNTS: Counts = { read: 0, accepted: 0, unchanged: 0, waiting: 0, deadLettered: 0 };

export const addCounts = (a: Counts, b: Counts): Counts => ({
  read: a.read + b.read,
  accepted: a.accepted + b.accepted,
  unchanged: a.unchanged + b.unchanged,
  waiting: a.waiting + b.waiting,
  deadLettered: a.deadLettered + b.deadLettered,
});

/** Whether each row that was read has its one outcome. */
export const isBalanced = (b: Counts): boolean => b.read === b.accepted + b.unchanged + b.waiting + b.deadLettered;

/** How a run can end; "success with rows missing" is not among them. */
export type RunOutcome = 'complete' | 'complete_with_dead_letters' | 'incomplete';

/** Records that a mapping has not delivered and that this run does not count, since other runs have read their rows. */
export interface Undelivered {
  readonly waiting: number;
  readonly deadLettered: number;
}

/** How a run ended. Those that deliver have an outcome by their counts; `failed`: it stopped before that. */
export type EndedRunOutcome = RunOutcome | 'failed';

/**
 * The outcome of a run, from its counts and from what its mappings have not delivered in other runs. Waiting records are
 * retried automatically, but they are not on the platform: a run that leaves some is not complete.
 */
export function outcomeOf(mappings: readonly (Counts & { readonly undelivered: Undelivered })[]): RunOutcome {
  // Mapping by mapping: one mapping's surplus must not hide another's gap.
  if (mappings.some((m) => !isBalanced(m) || m.waiting !== 0 || m.undelivered.waiting !== 0)) return 'incomplete';
  return mappings.some((m) => m.deadLettered > 0 || m.undelivered.deadLettered > 0)
    ? 'complete_with_dead_letters'
    : 'complete';
}

/** Exit code of `partner-sync run` (0 complete, 1 incomplete, 3 complete with dead letters). */
export const EXIT_CODES: Record<RunOutcome, number> = { complete: 0, complete_with_dead_letters: 3, incomplete: 1 };

/** What a run has done with the rows of one mapping. */
export interface MappingReport extends Counts {
  readonly mapping: string;
  /** What it has not delivered of the rows that other runs have read. */
  readonly undelivered: Undelivered;
  /** Seconds between the first and the last page. */
  readonly seconds: number;
}

/** Dead letters of one cause, counted: `4,012 rows: /email format`. */
export interface DeadLetterCount {
  readonly mapping: string;
  readonly code: string;
  readonly pointer: string;
  readonly rule: string;
  readonly count: number;
}

/** Result of both workflows and of `run --json`. Counts and names only, no row data. */
export interface RunReport {
  readonly version: 1;
  readonly run: string;
  readonly sync: string;
  readonly kind: RunKind;
  readonly mode: string;
  /** Of a sample: the most rows of each mapping. */
  readonly limit?: number;
  readonly outcome: RunOutcome;
  readonly startedAt: string;
  readonly endedAt: string;
  readonly mappings: readonly MappingReport[];
  readonly deadLetters: readonly DeadLetterCount[];
  /** Of mode `mirror`: the removal plans of the run, one a mapping; empty in other modes. */
  readonly removals: readonly RemovalPlan[];
  /** Rows that change feeds have named, that the run was to deliver, and that it has not; absent if there are none. */
  readonly changedRows?: number;
  /** Of mode `live`: mappings that are still being read for the first time, or searched for rows that are gone. */
  readonly unfinished?: readonly string[];
  /** Mappings that did not run; absent if there are none. */
  readonly skipped?: readonly SkippedMapping[];
  /** What else changed in the source; absent if nothing did. */
  readonly notes?: readonly MappingNote[];
  readonly total: Counts;
}

/** The records of a report's mappings that are not on the platform, whichever run read their rows. */
export function undeliveredOf({ mappings }: Pick<RunReport, 'mappings'>): Undelivered {
  const sum = (count: (mapping: MappingReport) => number): number =>
    mappings.reduce((total, mapping) => total + count(mapping), 0);
  return {
    waiting: sum((m) => m.waiting + m.undelivered.waiting),
    deadLettered: sum((m) => m.deadLettered + m.undelivered.deadLettered),
  };
}

/** The same for people: `run 12 of shop: 45 records wait, 3 are dead-lettered`. */
export function undeliveredLine(report: RunReport): string {
  const { waiting, deadLettered } = undeliveredOf(report);
  const parts = [
    ...(waiting > 0 ? [quantity(waiting, 'record waits', 'records wait')] : []),
    ...(deadLettered > 0 ? [quantity(deadLettered, 'row is', 'rows are') + ' dead-lettered'] : []),
    ...(report.changedRows === undefined
      ? []
      : [`${quantity(report.changedRows, 'changed row is', 'changed rows are')} not delivered`]),
    ...(report.unfinished ?? []).map((mapping) => `${mapping} was not read to its end`),
    ...(report.skipped ?? []).map(({ mapping, code }) => `${mapping} did not run (${code})`),
    ...report.removals
      .filter(needsAttention)
      .map(({ mapping, plan, state }) =>
        state === 'empty'
          ? `the source of ${mapping} has no rows`
          : `removal plan ${plan} of ${mapping} awaits approval`,
      ),
  ];
  return `run ${report.run} of ${report.sync} ended ${report.outcome}: ${parts.join(', ') || 'its counts do not add up'}`;
}

/** What a run waits for. */
export interface RunWait {
  readonly mapping: string;
  /** Records that are pending on the platform. */
  readonly records: number;
  /** Schemas of the parents that they miss. */
  readonly parents: readonly string[];
  /** ISO 8601: when the last of them expires on the platform, or the run ends, whichever is first. */
  readonly until: string;
}

const ALLOWED: Record<RunKind, readonly string[]> = {
  sync: ['sync', 'mode', 'mappings', 'approve', 'formerTenants', 'limit', 'acceptChanges', 'continues', 'runsBefore'],
  backfill: [
    'sync',
    'mappings',
    'from',
    'to',
    'mapping',
    'externalIds',
    'afterKey',
    'throughKey',
    'replay',
    'acceptChanges',
    'continues',
  ],
};

/** Fields that people do not type. */
const SET_BY_RUNS: readonly string[] = ['continues', 'runsBefore'];

/** Fields about the rows of one mapping. */
const OF_ONE_MAPPING = ['externalIds', 'afterKey', 'throughKey'] as const;

/**
 * Checks a workflow's input, and returns it with its type; throws `input_invalid` naming the field, what was given and
 * what is allowed. Only the form is checked: whether the sync and its mappings exist is checked by `openRun`, where the
 * files are.
 */
export function checkRunInput(kind: RunKind, input: unknown): RunInput {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw invalid(kind, `expected one JSON object such as {"sync":"online-retail"}, got ${describeValue(input)}`);
  const given = input as Record<string, unknown>;
  for (const key of Object.keys(given)) {
    if (ALLOWED[kind].includes(key)) continue;
    const near = nearest(key, ALLOWED[kind]);
    const hint = near === undefined ? '' : `; did you mean "${near}"?`;
    const typed = ALLOWED[kind].filter((field) => !SET_BY_RUNS.includes(field));
    throw invalid(kind, `unknown field ${quoted(key)}${hint} Allowed: ${typed.join(', ')}`);
  }
  const text = (field: string): void => {
    const v = given[field];
    if (v !== undefined && !isText(v)) throw invalid(kind, `"${field}" must be text, got ${describeValue(v)}`);
  };
  const list = (field: string): void => {
    const v = given[field];
    if (v === undefined) return;
    if (!Array.isArray(v) || v.length === 0 || !v.every(isText))
      throw invalid(kind, `"${field}" must be a list of texts, at least one`);
  };
  if (typeof given['sync'] !== 'string' || !isSyncName(given['sync']))
    throw invalid(kind, `"sync" must be the name of a folder in mappings/, got ${describeValue(given['sync'])}`);
  if (given['mode'] !== undefined && !RUN_MODES.includes(given['mode'] as RunMode))
    throw invalid(kind, `"mode" must be one of ${RUN_MODES.join(', ')}, got ${describeValue(given['mode'])}`);
  list('mappings');
  list('approve');
  if (given['approve'] !== undefined && given['mode'] !== 'mirror')
    throw invalid(kind, '"approve" needs "mode":"mirror", a run that carries out the plans named');
  list('formerTenants');
  if (given['formerTenants'] !== undefined && given['mode'] !== 'mirror')
    throw invalid(kind, '"formerTenants" needs "mode":"mirror", a run that finds records without rows');
  checkSample(given);
  for (const field of OF_ONE_MAPPING) list(field);
  for (const field of ['from', 'to', 'mapping']) text(field);
  if (given['acceptChanges'] !== undefined && typeof given['acceptChanges'] !== 'boolean')
    throw invalid(kind, `"acceptChanges" must be true or false, got ${describeValue(given['acceptChanges'])}`);
  const { continues } = given;
  if (continues !== undefined && !isContinuedRun(continues))
    throw invalid(kind, '"continues" is set by a run that continues itself, not by hand');
  if (given['runsBefore'] !== undefined && !isSmallCount(given['runsBefore']))
    throw invalid(kind, '"runsBefore" is set by a run that continues itself, not by hand');
  const ofOne = OF_ONE_MAPPING.filter((field) => given[field] !== undefined);
  if (ofOne.length > 0 !== (given['mapping'] !== undefined))
    throw invalid(kind, '"mapping" goes with "externalIds", "afterKey" or "throughKey": they are those of one mapping');
  if (ofOne.length > 0 && ['mappings', 'from', 'to'].some((f) => given[f] !== undefined))
    throw invalid(kind, `"${ofOne[0]!}" cannot be combined with "mappings", "from" or "to"`);
  if (given['externalIds'] !== undefined && ofOne.length > 1)
    throw invalid(kind, '"externalIds" cannot be combined with a range of keys');
  if (given['replay'] !== undefined) {
    checkReplay(given['replay']);
    if (['mapping', 'from', 'to'].some((f) => given[f] !== undefined))
      throw invalid(kind, '"replay" can be combined with "mappings" only');
  }
  return given as unknown as RunInput;
}

/** A workflow fails for ever at what is not as it expects, so every part is looked at. */
function isContinuedRun(continues: unknown): boolean {
  const {
    runId,
    stagesDone,
    pollUntil = 0,
    sweep = { mappings: [], after: '0' },
    notApproved = [],
    skipped,
    notes,
  } = (continues ?? {}) as Record<string, unknown>;
  const { mappings, after } = (sweep ?? {}) as Record<string, unknown>;
  return (
    isLedgerId(runId) &&
    isCount(stagesDone) &&
    isCount(pollUntil) &&
    isList(mappings, isText) &&
    isLedgerId(after) &&
    isList(notApproved, isText) &&
    isList(skipped, isNote) &&
    isList(notes, isNote)
  );
}

/** A number of the ledger as text; longer ones are beyond its type. */
const isLedgerId = (v: unknown): boolean => typeof v === 'string' && /^\d{1,18}$/.test(v);
const isCount = (v: unknown): boolean => Number.isSafeInteger(v) && (v as number) >= 0;
const isSmallCount = (v: unknown): boolean => isCount(v) && (v as number) <= 1_000_000;
const isList = (v: unknown, isItem: (item: unknown) => boolean): boolean => Array.isArray(v) && v.every(isItem);
const isNote = (v: unknown): boolean => {
  const { mapping, message } = (v ?? {}) as Record<string, unknown>;
  return isText(mapping) && typeof message === 'string';
};

function checkSample({ limit, mode }: Record<string, unknown>): void {
  if (limit === undefined) return;
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > LARGEST_SAMPLE)
    throw invalid('sync', `"limit" must be a whole number from 1 to ${LARGEST_SAMPLE}, got ${describeValue(limit)}`);
  if (mode !== undefined)
    throw invalid(
      'sync',
      '"limit" cannot be combined with "mode": a sample is the first rows of each mapping by key, and deletes nothing',
    );
}

const invalid = (kind: RunKind, message: string): PartnerSyncError =>
  new PartnerSyncError('input_invalid', `Input of the ${kind} workflow: ${message}`);

function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number' || typeof value === 'boolean') return `${typeof value} ${value}`;
  return Array.isArray(value) ? 'a list' : value === null ? 'null' : typeof value;
}
