/** How a run in mode `live` stands, while it is watched. */
import type { MappingProgress } from '../run/progress.js';
import type { HoldUntil } from '../run/run.js';
import { pauseLine, type Pause } from '../run/run-controls.js';
import { holdUntilLine } from '../sync/guard.js';
import { formatSeconds } from '../values/duration.js';
import { COUNT_BOUND, quantity, quantityToBound } from '../values/quantity.js';
import { ageOf, rowsLeft } from './feed-health.js';

/** How far the changes of a mapping have been delivered. */
export interface MappingDelivery {
  /** Whether every row has been read since the feed began. */
  readonly loaded: boolean;
  /** How many changed rows are still to be delivered, and how many records wait; each up to `COUNT_BOUND`. */
  readonly changedRows: number;
  readonly waiting: number;
  /** Up to when all its changes are delivered; null until that is known. */
  readonly deliveredUntil: Date | null;
}

/** A mapping during a run in mode `live`. */
export interface LiveMapping {
  readonly progress: MappingProgress;
  /** null if it is not known. */
  readonly delivery: MappingDelivery | null;
}

/** Such a run. */
export interface LiveProgress {
  readonly sync: string;
  /** By the clock of which the times of the mappings are. */
  readonly now: Date;
  readonly mappings: readonly LiveMapping[];
  /** How many changes were delivered a second lately; null if it is not known. */
  readonly changesPerSecond: number | null;
  readonly pause: Pause | null;
  readonly holds: readonly HoldUntil[];
}

/** Of such a run, the mappings of which every row is being read, and those whose changes are followed. */
export function stagesOf({ mappings }: LiveProgress): {
  readonly loading: readonly MappingProgress[];
  readonly followed: readonly (LiveMapping & { readonly delivery: MappingDelivery })[];
} {
  const known = mappings.flatMap(({ progress, delivery }) => (delivery === null ? [] : [{ progress, delivery }]));
  return {
    loading: known.filter(({ delivery }) => !delivery.loaded).map(({ progress }) => progress),
    followed: known.filter(({ delivery }) => delivery.loaded),
  };
}

/** `following: delivered up to 2.0s ago; 3 changed rows to go; 2.5 changes/s`; before that, of how many mappings all rows are read. */
export function stageLines(live: LiveProgress): string[] {
  const { loading, followed } = stagesOf(live);
  if (live.mappings.length === 0) return ['reading the change feeds'];
  if (loading.length + followed.length === 0) return ['following the change feeds'];
  return [
    ...(loading.length === 0 ? [] : [`reading every row of ${quantity(loading.length, 'mapping')}`]),
    ...(followed.length === 0 ? [] : [followedLine(live)]),
  ];
}

function followedLine(live: LiveProgress): string {
  const { loading, followed } = stagesOf(live);
  const deliveries = followed.map(({ delivery }) => delivery);
  const [lag, changedRows, waiting] = [lagOf(live), sumOf(deliveries, 'changedRows'), sumOf(deliveries, 'waiting')];
  const what = loading.length === 0 ? 'following' : `following ${quantity(followed.length, 'mapping')}`;
  return `${what}: ${[
    ...(lag === null ? [] : [`delivered up to ${formatSeconds(lag)} ago`]),
    rowsLeft(changedRows, 'changed row'),
    ...(waiting === 0 ? [] : [quantityToBound(waiting, 'record waits', 'records wait')]),
    ...(live.changesPerSecond === null || live.changesPerSecond === 0 ? [] : [`${live.changesPerSecond} changes/s`]),
  ].join('; ')}`;
}

/** How long ago the moment is up to which everything is delivered that is followed, in seconds; null until that is known. */
export function lagOf(live: LiveProgress): number | null {
  const until = oldestOf(stagesOf(live).followed.map(({ delivery }) => delivery));
  return until === null ? null : ageOf(until, live.now);
}

/** `up to 2.0s ago`, and `3 rows to go`. */
export const deliveryCells = (
  { deliveredUntil, changedRows }: MappingDelivery,
  now: Date,
): readonly [string, string] => [
  deliveredUntil === null ? '' : `up to ${formatSeconds(ageOf(deliveredUntil, now))} ago`,
  rowsLeft(changedRows, 'row'),
];

/** That the run is paused, and what continues it. */
export const pausedLines = ({ sync, pause }: LiveProgress): string[] =>
  pause === null
    ? []
    : [`${pauseLine(pause)}: neither reads nor sends anything; partner-sync resume ${sync} continues it`];

/** What waits for an approval, and what approves it. */
export const holdLines = ({ sync, holds }: LiveProgress): string[] =>
  holds.map((hold) => `${holdUntilLine(hold)}; partner-sync approve ${sync} ${hold.mapping} approves it`);

function oldestOf(deliveries: readonly MappingDelivery[]): Date | null {
  const times = deliveries.flatMap(({ deliveredUntil }) => (deliveredUntil === null ? [] : [deliveredUntil.getTime()]));
  return times.length === 0 ? null : new Date(Math.min(...times));
}

const sumOf = (deliveries: readonly MappingDelivery[], what: 'changedRows' | 'waiting'): number =>
  Math.min(
    COUNT_BOUND,
    deliveries.reduce((sum, delivery) => sum + delivery[what], 0),
  );
