/** What the background loops have to do: asked often, and mostly nothing, so it costs one statement. */
import type { Queryable } from '../database.js';
import type { SandboxSettings } from '../settings.js';

/** Condition of SQL: the batch is to be processed now. `delay`: the setting `processingDelay` in seconds, as a parameter. */
export const isDue = (delay: string): string =>
  `started_at is null and retry_at <= clock_timestamp() and created_at <= clock_timestamp() - make_interval(secs => ${delay})`;

/** Whether any batch is due; another worker may have it already. */
export async function isBatchDue(db: Queryable, { processingDelay }: SandboxSettings): Promise<boolean> {
  const { rows } = await db.query({
    name: 'is-batch-due',
    text: `select from sandbox.batches where ${isDue('$1')} limit 1`,
    values: [processingDelay / 1000],
  });
  return rows.length > 0;
}

/** What a periodic check has found. */
export interface WorkFound {
  /** Batches that are due. */
  readonly batches: boolean;
  /** Pending resources whose wait has elapsed. */
  readonly expired: boolean;
  /** Batches that have completed longer ago than they are kept. */
  readonly old: boolean;
}

export async function findWork(
  db: Queryable,
  { processingDelay, batchRetention }: SandboxSettings,
): Promise<WorkFound> {
  const { rows } = await db.query<WorkFound>({
    name: 'find-work',
    text: `select exists (select from sandbox.batches where ${isDue('$1')}) as batches,
             exists (select from sandbox.pending_resources where expires_at <= clock_timestamp()) as expired,
             exists (select from sandbox.batches
                      where completed_at < clock_timestamp() - make_interval(secs => $2)) as old`,
    values: [processingDelay / 1000, batchRetention],
  });
  return rows[0]!;
}
