/** Takes completed batches away, with what is told of their records; the resources stay. */
import type { Queryable } from '../database.js';

/** Taken away by one statement; the next look takes the next ones. */
const AT_ONCE = 1_000;

export async function forgetOldBatches(db: Queryable, retentionSeconds: number): Promise<void> {
  await db.query({
    name: 'forget-old-batches',
    text: `delete from sandbox.batches
            where id in (select id from sandbox.batches
                          where completed_at < clock_timestamp() - make_interval(secs => $1)
                          order by completed_at limit $2
                            for update skip locked)`,
    values: [retentionSeconds, AT_ONCE],
  });
}
