/** What the ledger removes after a time, and what it always keeps. */
import { seconds, type DurationName } from '../timeouts.js';

/** The kinds of rows that are removed, in this order: each before those that it refers to. */
export const RETENTION_KINDS = ['batches', 'partitions', 'removalPlans', 'runs', 'audit'] as const;
export type RetentionKind = (typeof RETENTION_KINDS)[number];

/** How long each kind is kept, in seconds, from the key `retention` of sync.yaml. */
export type Retention = Readonly<Record<RetentionKind, number>>;

const DEFAULTS = {
  batches: 'keepBatches',
  partitions: 'keepPartitions',
  removalPlans: 'keepRemovalPlans',
  runs: 'keepRuns',
  audit: 'keepAudit',
} as const satisfies Record<RetentionKind, DurationName>;

/** The retention of a sync that declares none. */
export const DEFAULT_RETENTION: Retention = Object.fromEntries(
  RETENTION_KINDS.map((kind) => [kind, seconds(DEFAULTS[kind])]),
) as Record<RetentionKind, number>;

/** Rows of one kind that are old enough to be removed, or were. */
export interface Prunable {
  readonly kind: RetentionKind;
  readonly rows: number;
  /** When the oldest of them ended, ISO 8601; null if there are none. */
  readonly oldest: string | null;
}
