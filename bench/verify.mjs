/** Verifies that a run did the work: every row once, parents first, and the same records as every other contender. */
import { isDeepStrictEqual } from 'node:util';
import { SIZES } from './source.mjs';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Describes what is wrong with what the sink has received; empty if nothing is. */
export function problemsOf(stats, size) {
  const problems = [];
  for (const [schema, rows] of Object.entries(SIZES[size])) {
    const got = { records: 0, distinct: 0, sumId: 0, bad: 0, noId: 0, ...stats[schema] };
    if (got.records !== rows) problems.push(`${schema}: ${got.records} records instead of ${rows}`);
    if (got.distinct !== rows) problems.push(`${schema}: ${got.distinct} distinct ids instead of ${rows}`);
    // Equal counts of records, ids and rows, and the right sum of ids: each id of the source came exactly once.
    if (got.sumId !== (rows * (rows + 1)) / 2) problems.push(`${schema}: not the ids of the source`);
    if (got.bad > 0 || got.noId > 0) problems.push(`${schema}: ${got.bad} bad bodies, ${got.noId} records without id`);
  }
  if (stats.outOfOrderCustomers > 0) {
    problems.push(`${stats.outOfOrderCustomers} customers came after the first transaction`);
  }
  return problems;
}

/** Like {@link problemsOf}, for a run over rows that were all sent before: every row must be read and none sent. */
export function problemsOfSilence(stats, report, size) {
  const rows = Object.values(SIZES[size]).reduce((a, b) => a + b);
  const unchanged = report?.total?.unchanged;
  return [
    ...(unchanged === rows ? [] : [`${unchanged} rows unchanged instead of ${rows}`]),
    ...Object.entries(stats).flatMap(([schema, got]) =>
      got?.records > 0 ? [`${schema}: ${got.records} records sent again`] : [],
    ),
  ];
}

/** The sink's sample of records by schema, normalized so that equal records compare as equal. */
export const samplesOf = (stats) =>
  Object.fromEntries(Object.keys(SIZES.full).map((schema) => [schema, normal(stats[schema]?.samples ?? {})]));

/** Describes the first record on which two samples disagree; undefined when they agree. */
export function firstDifference(ours, theirs) {
  for (const schema of Object.keys(theirs)) {
    for (const [id, record] of Object.entries(theirs[schema])) {
      const other = ours[schema][id];
      if (!isDeepStrictEqual(other, record)) {
        return `${schema} ${id} differs: ${JSON.stringify(other)} instead of ${JSON.stringify(record)}`;
      }
    }
  }
  return undefined;
}

/** Instants are compared as such: `…00.5Z` and `…00.500Z` are equal. */
function normal(value) {
  if (typeof value === 'string') return INSTANT.test(value) ? new Date(value).toISOString() : value;
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, normal(member)]));
}
