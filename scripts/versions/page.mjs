/** docs/reliability/versions.md, made from versions.json. */
import { NEVER_RAN, SUITES } from './subjects.mjs';

const row = (cells) => `| ${cells.join(' | ')} |`;

/** The lines of a table whose columns are as wide as their widest cell. */
function table(header, rows) {
  const widths = header.map((_, i) => Math.max(3, ...[header, ...rows].map((cells) => cells[i].length)));
  const padded = (cells) => row(cells.map((cell, i) => cell.padEnd(widths[i])));
  return [padded(header), row(widths.map((width) => '-'.repeat(width))), ...rows.map(padded)].join('\n');
}

/** `results` as versions.json has them. */
export const pageOf = (results) => `# Versions that the tests ran on

\`npm run test:versions\` runs the tests of sources and ledger on each version of PostgreSQL, those that read a database on the other
databases, runs that go by a slot on three versions of PostgreSQL as the source, and those that need no server of their own on each version of Node. It writes this page, from
[versions.json](versions.json). A number of tests differs where a database lacks what a test is about. In CI, the tests run on one
version of each, and once more on PostgreSQL 12; MySQL is left to this command, since it takes Maven and some minutes.

${table(
  ['On', 'Version', 'Tests', 'Passed', 'Left out', 'Failed', 'Date', 'Commit'],
  results.map(({ name, version, suite, passed, leftOut, failed, date, commit }) => [
    name,
    version,
    SUITES[suite].title,
    ...[passed, leftOut, failed].map((count) => count.toLocaleString('en')),
    date,
    commit,
  ]),
)}

Before PostgreSQL 16, one test of the ledger is left out: it sends to the sandbox, which needs that version.

## What they never ran on

${table(['On', 'Why'], Object.entries(NEVER_RAN))}
`;
