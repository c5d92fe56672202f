/** Whether a run did the work: every row once, parents first, and the same records as every other contender. */
import { isDeepStrictEqual } from 'node:util';
import { SIZES } from './source.mjs';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** What is wrong with what the sink has received, in words; empty when nothing is. */
export function problemsOf(stats, size) {
  const problems = [];
  for (const [schema, rows] of Object.entries(SIZES[size])) {
    const got = { records: 0, distinct: 0, sumId: 0, bad: 0, noId: 0, ...stats[schema] };
    if (got.records !== rows) problems.push(`${schema}: ${got.records} records instead of ${rows}`);
    if (got.distinct !== rows) problems.push(`${schema}: ${got.distinct} distinct ids instead of ${rows}`);
    // As many records as ids, as many ids as rows, and their sum: each id of the source exactly once.
    if (got.sumId !== (rows * (rows + 1)) / 2) problems.push(`${schema}: not the ids of the source`);
    if (got.bad > 0 || got.noId > 0) problems.push(`${schema}: ${got.bad} bad bodies, ${got.noId} records without id`);
  }
  if (stats.outOfOrderCustomers > 0) {
    problems.push(`${stats.outOfOrderCustomers} customers came after the first transaction`);
  }
  return problems;
}

/** What is wrong with a run over rows that were all sent before: each must have been read, and none sent. */
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

/** The sink's sample of records, with what JSON lets one write in several ways written in one. */
export const samplesOf = (stats) =>
  Object.fromEntries(Object.keys(SIZES.full).map((schema) => [schema, normal(stats[schema]?.samples ?? {})]));

/** The first record that two samples disagree on, or undefined. */
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

/** Points in time compare as such: `…00.5Z` and `…00.500Z` are the same. */
function normal(value) {
  if (typeof value === 'string') return INSTANT.test(value) ? new Date(value).toISOString() : value;
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, normal(member)]));
}
