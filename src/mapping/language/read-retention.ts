/** Reads `retention` of sync.yaml: how long the ledger keeps what is over. */
import { durationSeconds } from '../../domain/values/duration.js';
import { DEFAULT_RETENTION, RETENTION_KINDS, type Retention, type RetentionKind } from '../../domain/sync/retention.js';

/** The key of sync.yaml, absent or of the form that `sync.schema.json` has checked. */
export interface RetentionFile {
  retention?: Partial<Record<RetentionKind, string>>;
}

export const readRetention = ({ retention = {} }: RetentionFile): Retention =>
  Object.fromEntries(
    RETENTION_KINDS.map((kind) => [
      kind,
      retention[kind] === undefined ? DEFAULT_RETENTION[kind] : durationSeconds(retention[kind]),
    ]),
  ) as Record<RetentionKind, number>;
