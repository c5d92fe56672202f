/** The ids of the workflows that commands and programs start. */
import type { RunKind } from '../domain/run/run.js';

/** Readable in Temporal's list, and another one each millisecond: `sync-shop-2026-11-26T00-26-15-123Z`. */
export const newWorkflowId = (kind: RunKind, sync: string): string =>
  `${kind}-${sync}-${new Date().toISOString().replace(/[:.]/g, '-')}`;
