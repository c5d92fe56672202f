/** Joins what was committed in the source with what the sink has accepted. */
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { withClient } from '../../scripts/with-client.mjs';

/** The writer's first version, greater than any number in a row that it has not written. */
export const FIRST_VERSION = 1_000_000;

/**
 * For each commit, in their order: when it returned, and when the first record with its version or a later one was accepted
 * (null if none was), in milliseconds. Also by key: the version that was accepted last.
 */
export async function arrivalsOf(commitsFile, sinkLog) {
  const commits = existsSync(commitsFile)
    ? readFileSync(commitsFile, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => {
          const [table, id, version, at] = line.split(' ');
          return { key: `${table} ${id}`, version: Number(version), at: Number(at), acceptedAt: null };
        })
    : [];
  const waiting = groupedByKey(commits);
  const last = new Map();
  for await (const line of createInterface({ input: createReadStream(sinkLog) })) {
    const { at, schema, ids, versions } = JSON.parse(line);
    for (const [i, id] of ids.entries()) {
      const key = `${schema} ${id}`;
      // Of rows that were not written meanwhile, there may be millions.
      if (!waiting.has(key)) continue;
      last.set(key, versions[i]);
      const own = waiting.get(key);
      while (own?.length > 0 && own[0].version <= versions[i]) own.shift().acceptedAt = at;
    }
  }
  return { commits: commits.sort((a, b) => a.at - b.at), last };
}

function groupedByKey(commits) {
  const grouped = new Map();
  for (const commit of commits) {
    if (grouped.has(commit.key)) grouped.get(commit.key).push(commit);
    else grouped.set(commit.key, [commit]);
  }
  return grouped;
}

/** Describes rows of the source whose version the sink has not accepted last; empty if there are none. */
export async function staleRows(sourceUrl, last) {
  const stale = [];
  let rows = 0;
  await withClient(sourceUrl, async (client) => {
    for (const [table, version] of [
      ['customers', `substr(last_name, 5)`],
      ['transactions', 'total'],
    ]) {
      const written = await client.query(
        `SELECT id, version FROM (SELECT id, (${version})::numeric::float8 AS version FROM ${table}
           ${table === 'customers' ? `WHERE last_name ~ '^Last[0-9]+$'` : ''}) t WHERE version >= $1`,
        [FIRST_VERSION],
      );
      rows += written.rows.length;
      for (const { id, version: wanted } of written.rows) {
        const got = last.get(`${table} ${id}`);
        if (got !== wanted) stale.push(`${table} ${id}: ${got} instead of ${wanted}`);
      }
    }
  });
  return { rows, stale };
}

/** The value below which this share of the values is. */
export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
