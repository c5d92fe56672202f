/** Deletes completed batches after their retention, together with their errors; the resources stay. */
import type { Queryable } from '../database.js';

/** Most batches deleted by one statement; the next check deletes more. */
const AT_ONCE = 1_000;

/** Deletes batches that completed more than `retentionSeconds` ago, with their record errors. */
export async function deleteOldBatches(db: Queryable, retentionSeconds: number): Promise<void> {
  await db.query({
    name: 'delete-old-batches',
    text: `delete from sandbox.batches
            where id in (select id from sandbox.batches
                          where completed_at < clock_timestamp() - make_interval(secs => $1)
                          order by completed_at limit $2
                            for update skip locked)`,
    values: [retentionSeconds, AT_ONCE],
  });
}
