/** Sizes, times and counts on the pages are those of the code: each sentence here is made from what the code declares. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { patience, TRIES } from '../../activities/patience.js';
import { ELSEWHERE_ATTEMPTS, ELSEWHERE_EVERY } from '../../src/domain/elsewhere.js';
import { UNSEEN_TRANSACTIONS_DELAY } from '../../src/source/fence.js';
import { PAGE_BUDGET } from '../../src/source/page-sizer.js';
import { ENGINE_OPTIONS } from '../../src/worker/engine-flags.js';
import { readPage, ROOT } from './pages.js';

/** What stands behind `before` in a file: the first figure there, such as 12_000, '10s', 0.25 or 8 * 1024 * 1024. */
function declared(file: string, before: string): number {
  const source = readFileSync(join(ROOT, file), 'utf8');
  const at = source.indexOf(before);
  if (at < 0 || source.includes(before, at + 1)) throw new Error(`${file} says "${before}" not once`);
  const figure = /^\s*'?([\d_.]+(?: \* [\d_.]+)*)/.exec(source.slice(at + before.length));
  if (figure === null) throw new Error(`${file}: no figure behind "${before}"`);
  return figure[1]!.split(' * ').reduce((product, factor) => product * Number(factor.replaceAll('_', '')), 1);
}
const constant = (file: string, name: string): number => declared(file, `const ${name} =`);
const defaultOf = (name: string): number => declared('src/mapping/read-sync.ts', `.${name} ??`);

const many = (n: number): string => n.toLocaleString('en-GB');
const WORDS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];
const word = (n: number): string => WORDS[n] ?? String(n);
const large = (n: number): string => word(n).replace(/^./, (first) => first.toUpperCase());
const seconds = (milliseconds: number): number => milliseconds / 1000;
const MIB = 1024 * 1024;

const pageRows = many(constant('src/reading/page-rows.ts', 'PAGE_ROWS'));
const groupRows = many(constant('src/reading/group.ts', 'GROUP_ROWS'));
const groupMib = constant('src/reading/group.ts', 'GROUP_BYTES') / MIB;
const slice = seconds(constant('activities/load-slice.ts', 'SLICE_TIME'));
const slicesAtOnce = word(constant('src/worker/workers.ts', 'SLICES_AT_ONCE'));
const heartbeat = declared('workflows/activities.ts', 'heartbeatTimeout:');
const delay = defaultOf('inDoubtDelay');
const afterCrash = constant('activities/recover-range.ts', 'DELAYS_AFTER_A_CRASH');
const busyAgain = constant('activities/delivery.ts', 'READ_AGAIN_IN');
const elsewhere = seconds(ELSEWHERE_ATTEMPTS * ELSEWHERE_EVERY);
const tries = Array.from({ length: TRIES - 1 }, (_, i) => patience(i + 1) / 60);
const times = (factor: number): string => (factor === 2 ? 'twice' : `${factor} times`);
const idsAtOnce =
  constant('activities/find-vanished.ts', 'BLOCKS_AT_ONCE') * constant('src/state/record-blocks.ts', 'BLOCK_ENTRIES');

const SENTENCES: Readonly<Record<string, readonly string[]>> = {
  'README.md': [
    `Pages of up to ${pageRows} rows, by keyset`,
    `Up to ${groupRows} rows form a group.`,
    `at most ${defaultOf('batchSize')} records or ${declared('src/mapping/read-sync.ts', '.batchBytes ??')} MiB.`,
    `incremental runs stay ${UNSEEN_TRANSACTIONS_DELAY} seconds behind`,
  ],
  'docs/architecture.md': [
    `key ranges of about ${many(constant('activities/plan-mapping.ts', 'ROWS_PER_RANGE'))} rows`,
    `carries a range forward for about ${slice} seconds`,
    `${large(constant('activities/group-turns.ts', 'GROUPS_AT_ONCE'))} groups of a mapping are on their way at once in a process`,
    `for up to ${constant('workflows/run.ts', 'STAGE_FOLLOW') === 60 ? 'a minute' : '?'} after each stage`,
    `A busy record is read again ${busyAgain === 1 ? 'a second' : `${busyAgain} seconds`} later.`,
    `has waited for more than ${declared('activities/upload-batch.ts', 'batch.intendedAt > inDoubtDelay *') === 500 ? 'half' : '?'} of \`upload.inDoubtDelay\``,
    `when the heartbeat has been missing for ${heartbeat} seconds`,
    `waits until the intent is ${times(afterCrash)} as old as \`inDoubtDelay\``,
  ],
  'docs/glossary.md': [
    `what one activity carries, ${slice} seconds of work`.replace('what ', 'that '),
    `A worker works on ${slicesAtOnce} at once.`,
    `up to ${pageRows} rows, read by one query`,
    `some ${groupRows} rows or ${groupMib} MiB of records, the first of a slice ${many(constant('src/reading/read-groups.ts', 'FIRST_GROUP_ROWS'))}`,
  ],
  'docs/operations.md': [
    `add \`${ENGINE_OPTIONS.join(' ')}\``,
    `lets its slices finish, for ${declared('src/worker/run-worker.ts', 'const GRACE =')} seconds`,
    `when the heartbeat has been missing for ${heartbeat} seconds`,
    `\`upload.requestsAtOnce\` (${defaultOf('requestsAtOnce')}) requests at once for each sync, ${declared('src/state/connection.ts', 'poolMax =')} connections to the ledger`,
    `\`source.pool.max\` (${defaultOf('pool?.max')}) connections to each source, ${declared('src/worker/run-worker.ts', 'maxConcurrentActivityTaskExecutions:')} activities at once and ${slicesAtOnce} slices beside them`,
    `for up to \`upload.followFor\` (${defaultOf('followFor')} minutes)`,
    `it is sent again ${busyAgain === 1 ? 'a second' : `${busyAgain} seconds`} later`,
    `is sent again after ${tries.map((n) => (n === 1 ? 'a minute' : word(n))).join(', ')}, and then becomes a dead letter`,
    `\`upload.inDoubtDelay\` (${delay} s) later, after a crash ${times(afterCrash)} as long,`,
    `for about ${Math.floor(idsAtOnce / 100) * 100} external ids at once`,
    `the database's clock less ${UNSEEN_TRANSACTIONS_DELAY} seconds`,
    `the first ${constant('activities/differences.ts', 'RANGES_SHOWN')}) and ${word(constant('activities/differences.ts', 'EXAMPLES'))} examples of each kind`,
    `for ${elsewhere} seconds on whichever worker is free`,
  ],
  'docs/sources.md': [
    `the fence is the database's clock minus ${UNSEEN_TRANSACTIONS_DELAY} seconds`,
    `what it has replayed, minus ${UNSEEN_TRANSACTIONS_DELAY} seconds`,
    `the clock minus ${UNSEEN_TRANSACTIONS_DELAY} seconds`,
    `About ${PAGE_BUDGET / MIB} million characters of a page`,
    `more than ${constant('src/source/page-sizer.ts', 'SLOW') === 0.25 ? 'a quarter' : '?'} of the statement timeout`,
  ],
  'docs/mapping.md': [
    `statementTimeout: ${defaultOf('statementTimeout')}s`,
    `batchBytes: ${declared('src/mapping/read-sync.ts', '.batchBytes ??')}MiB`,
    `inDoubtDelay: ${delay}s`,
  ],
};

/** Line breaks and the padding of tables are Prettier's. */
const flat = (text: string): string => text.replaceAll(/\s+/g, ' ');

describe.each(Object.entries(SENTENCES))('%s', (page, sentences) => {
  const text = flat(readPage(page).text);
  it.each(sentences)('says %j', (sentence) => {
    expect(text).toContain(flat(sentence));
  });
});

it('reads figures from the code as they are written there', () => {
  expect(pageRows).toBe('2,000');
  expect(groupMib).toBe(8);
});
