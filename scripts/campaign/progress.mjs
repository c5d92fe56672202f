/**
 * Watches the ledger for how soon the work of a dead worker goes on: when another attempt has acquired all partitions that it was
 * loading, and when each of them has come further, which takes another accepted chunk and its checkpoint. Also looks whether the
 * ledger ever has a record in two unfinished batches.
 */
import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';

/** From a kill to progress, 95 of 100 times: heartbeatTimeout of src/domain/timeouts, and 3 s. */
export const LONGEST_SECONDS = 13;
const LOOK_MS = 200;
/** Looking for records in two batches reads all open batches. */
const LOOK_TWICE_MS = 5000;

/** Partitions in which waiting records are polled are not among them: they are acquired again only if any still wait. */
const PARTITIONS = `SELECT p.id::text, fencing_token, done, p.updated_at > to_timestamp($2 / 1000.0) AS moved, ended_at IS NOT NULL AS over,
    format('partition %s (%s) of run %s', p.id, p.kind, r.workflow_id) AS name
  FROM partner_sync.partitions p JOIN partner_sync.runs r ON r.id = p.run_id
  WHERE p.id = ANY($1::bigint[]) AND p.kind IN ('planned', 'removals', 'changed_rows')`;

const TWICE = `SELECT mapping_id, tenant_id, id FROM (
    SELECT mapping_id, tenant_id, json_array_elements_text(external_ids) AS id FROM partner_sync.batches
    -- What is in doubt may be sent once more with the same content.
    WHERE state IN ('intended', 'sent') OR state = 'pending' AND platform_batch_id IS NOT NULL) o
  GROUP BY mapping_id, tenant_id, id HAVING count(*) > 1 LIMIT 5`;

/** @param {string} url of the ledger, not through the proxy */
export function watchProgress(url) {
  let client;
  let isOver = false;
  /** Deaths whose work has not gone on yet. */
  let open = [];
  /** Seconds from a kill to the moment, in the order of the kills. `again`: kills before another one; `idle`: of
   * workers that loaded nothing. `slow`: what has taken longer than it may. */
  const measured = { takenOver: [], checkpoint: [], again: 0, idle: 0, slow: [] };
  const twice = [];
  let lookTwiceAt = 0;
  const loop = look();

  async function look() {
    while (!isOver) {
      try {
        client ??= await connected();
        for (const death of open) await follow(death);
        open = open.filter((death) => death.holds.length > 0);
        if (Date.now() > lookTwiceAt) {
          lookTwiceAt = Date.now() + LOOK_TWICE_MS;
          for (const { mapping_id, tenant_id, id } of (await client.query(TWICE)).rows)
            twice.push(`record ${id} of tenant ${tenant_id} and mapping ${mapping_id} is in two unfinished batches`);
        }
      } catch {
        // The ledger is down.
        await client?.end().catch(() => {});
        client = undefined;
      }
      await sleep(LOOK_MS);
    }
    await client?.end().catch(() => {});
  }

  async function connected() {
    const opened = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
    opened.on('error', () => {});
    await opened.connect();
    return opened;
  }

  async function follow(death) {
    const { rows } = await client.query(PARTITIONS, [death.holds.map(({ id }) => id), death.at]);
    const found = new Map(rows.map((row) => [row.id, row]));
    if (!death.isFiltered) {
      // What it was loading when it died: nobody has acquired it since, and it was not finished.
      death.holds = death.holds.filter(({ id, token }) => {
        const partition = found.get(id);
        return partition !== undefined && partition.fencing_token === token && !partition.done && !partition.over;
      });
      death.isFiltered = true;
      if (death.holds.length === 0) measured.idle++;
    }
    if (death.holds.length === 0) return;
    const seconds = (Date.now() - death.at) / 1000;
    const all = (is) => death.holds.every((hold) => is(found.get(hold.id), hold));
    const isTaken = ({ fencing_token, done, over }, { token }) => fencing_token > token || done || over;
    if (death.takenOver === undefined && all(isTaken)) death.takenOver = seconds;
    const isFurther = (partition, hold) =>
      isTaken(partition, hold) && (partition.moved || partition.done || partition.over);
    if (!all(isFurther)) {
      death.last = death.holds.map(({ id }) => found.get(id)).filter((each, no) => !isFurther(each, death.holds[no]));
      return;
    }
    if (seconds > LONGEST_SECONDS)
      measured.slow.push(
        `${death.point ?? 'a moment of chance'}: taken over after ${death.takenOver.toFixed(1)} s, further after ` +
          `${seconds.toFixed(1)} s: ${(death.last ?? []).map(({ name }) => name).join(', ')}`,
      );
    measured.takenOver.push(death.takenOver);
    measured.checkpoint.push(seconds);
    death.holds = [];
  }

  return {
    measured,
    twice,
    /** A worker was killed. Those before it can no longer be measured: their work may have been on its way to this one. */
    died(death) {
      measured.again += open.length;
      open = [{ ...death }];
    },
    isSettled: () => open.length === 0,
    async stop() {
      isOver = true;
      await loop;
    },
  };
}

/** What stands in the report: `null` for none. */
export function percentiles(seconds) {
  if (seconds.length === 0) return null;
  const sorted = [...seconds].sort((a, b) => a - b);
  const at = (share) => Math.round(sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] * 10) / 10;
  return { kills: sorted.length, p50: at(0.5), p95: at(0.95), max: at(1) };
}
