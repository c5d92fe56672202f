/** Sizes, times and counts on the pages are those of the code: each sentence here is made from what the code declares. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { retryDelay } from '../../src/delivery/parents/retry-delay.js';
import { seconds, times } from '../../src/domain/timeouts.js';
import { UNSEEN_TRANSACTIONS_DELAY } from '../../src/source/high-watermark-text.js';
import { MAX_PAGE_CHARACTERS } from '../../src/source/page-sizer.js';
import { ENGINE_OPTIONS } from '../../src/config/engine-flags.js';
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
const defaultOf = (name: string): number => declared('src/mapping/language/read-sync.ts', `.${name} ??`);

const many = (n: number): string => n.toLocaleString('en-GB');
const WORDS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];
const word = (n: number): string => WORDS[n] ?? String(n);
const large = (n: number): string => word(n).replace(/^./, (first) => first.toUpperCase());
const MIB = 1024 * 1024;

const pageRows = many(constant('src/reading/page-size.ts', 'PAGE_ROWS'));
const chunkRows = many(constant('src/reading/chunk-builder.ts', 'CHUNK_ROWS'));
const chunkMib = constant('src/reading/chunk-builder.ts', 'CHUNK_CHARACTERS') / MIB;
const slice = seconds('timeSlice');
const slicesAtOnce = word(constant('src/worker/workers.ts', 'LOAD_QUEUE_SLOTS'));
const heartbeat = seconds('heartbeatTimeout');
const delay = seconds('inDoubtDelay');
const afterCrash = times('inDoubtDelaysAfterCrash');
const readAgain = seconds('readAgain');
const onAnotherWorker = times('anotherWorkerAttempts') * seconds('anotherWorkerEvery');
const tries = Array.from({ length: times('childAttempts') - 1 }, (_, i) => retryDelay(i + 1) / 60);
const asOften = (factor: number): string => (factor === 2 ? 'twice' : `${factor} times`);
const idsAtOnce =
  constant('src/delivery/removals/find-vanished.ts', 'BLOCKS_AT_ONCE') *
  constant('src/ledger/record-index/cut-block.ts', 'BLOCK_RECORDS');

const inFolder = (path: string): readonly string[] =>
  readdirSync(join(ROOT, path), { recursive: true, encoding: 'utf8' });
/** A run that continues as another execution has several files. */
const shapes = inFolder('test/workflows/histories').filter((name) => /\/[a-z-]+\.json$/.test(name)).length;
const inCi = declared('.ci/run', 'simulate -- --seeds');
const keptSeeds = JSON.parse(readFileSync(join(ROOT, 'test/simulation/seeds.json'), 'utf8')) as readonly number[];
const seedsInCi = inCi + keptSeeds.filter((seed) => seed > inCi).length;
const plantedBugs = Object.keys(
  ((await import(pathToFileURL(join(ROOT, 'scripts/simulation/planted-bugs.mjs')).href)) as { PLANTED_BUGS: object })
    .PLANTED_BUGS,
).length;

const SENTENCES: Readonly<Record<string, readonly string[]>> = {
  'docs/architecture.md': [
    `Pages of up to ${pageRows} rows, by keyset`,
    `About ${chunkRows} rows form a chunk;`,
    `at most ${defaultOf('batchSize')} records or ${declared('src/mapping/language/read-sync.ts', '.batchBytes ??')} MiB.`,
    `key partitions of about ${many(constant('src/delivery/run/partitions-of.ts', 'ROWS_PER_PARTITION'))} rows`,
    `works on a partition for about ${slice} seconds`,
    `${large(constant('src/delivery/chunk-slots.ts', 'CHUNKS_AT_ONCE'))} chunks of a mapping are in progress at once in a process`,
    `for up to ${seconds('stagePoll') === 60 ? 'a minute' : '?'} after each stage`,
    `A contended record is read again ${readAgain === 1 ? 'a second' : `${readAgain} seconds`} later.`,
    `has waited for more than ${times('postShareOfInDoubtDelay') === 0.5 ? 'half' : '?'} of \`upload.inDoubtDelay\``,
    `when the heartbeat has been missing for ${heartbeat} seconds`,
    `until the intent is ${asOften(afterCrash)} as old as \`inDoubtDelay\``,
  ],
  'docs/glossary.md': [
    `about ${slice} seconds of work on a partition`,
    `A worker runs ${slicesAtOnce} at once.`,
    `up to ${pageRows} rows, read by one query`,
    `about ${chunkRows} rows or ${chunkMib} MiB of rows (the first of a time slice ${many(constant('src/reading/read-chunks.ts', 'FIRST_CHUNK_ROWS'))})`,
  ],
  'docs/deploy.md': [
    `add \`${ENGINE_OPTIONS.join(' ')}\``,
    `lets its activities finish, for ${seconds('workerDrain')} seconds`,
    `when the heartbeat has been missing for ${heartbeat} seconds`,
    `\`upload.requestsAtOnce\` (${defaultOf('requestsAtOnce')})`,
    `${declared('src/ledger/database/connection.ts', 'poolMax =')} connections to the ledger`,
    `\`source.pool.max\` (${defaultOf('pool?.max')}) connections to each source, ${constant('src/worker/workers.ts', 'COMMON_QUEUE_SLOTS')} activity slots, and ${slicesAtOnce} more for loading`,
    `for ${onAnotherWorker} seconds on whichever worker is free`,
  ],
  'docs/repair.md': [
    `for up to \`upload.waitForPending\` (${seconds('waitForPending') / 60} minutes)`,
    `it is sent again ${readAgain === 1 ? 'a second' : `${readAgain} seconds`} later`,
    `is sent again after ${tries.map((n) => (n === 1 ? 'a minute' : word(n))).join(', ')}, and then becomes a dead letter`,
    `\`upload.inDoubtDelay\` (${delay} s), after a crash ${asOften(afterCrash)} as long,`,
    `for about ${Math.floor(idsAtOnce / 100) * 100} external ids at once`,
    `the first ${constant('src/inspection/differences.ts', 'RANGES_SHOWN')}) and ${word(constant('src/inspection/differences.ts', 'EXAMPLES'))} examples of each kind`,
  ],
  'docs/sources.md': [
    `the high watermark is the database's clock minus ${UNSEEN_TRANSACTIONS_DELAY} seconds`,
    `what it has replayed, minus ${UNSEEN_TRANSACTIONS_DELAY} seconds`,
    `the clock minus ${UNSEEN_TRANSACTIONS_DELAY} seconds`,
    `whose transaction is open for more than ${UNSEEN_TRANSACTIONS_DELAY} seconds`,
    `About ${MAX_PAGE_CHARACTERS / MIB} million characters of a page`,
    `more than ${times('sourceSlowPage') === 0.25 ? 'a quarter' : '?'} of the statement timeout`,
  ],
  'README.md': [
    `${seedsInCi} seeds, and 20 new ones each time`,
    `${shapes} shapes of recorded runs, replayed with the code as it is`,
  ],
  'docs/reliability.md': [
    `Recorded histories of ${shapes} shapes of run are replayed`,
    `\`scripts/simulation/planted-bugs.mjs\` lists ${plantedBugs}.`,
    `In CI, seeds 1 to ${inCi} run each time`,
  ],
  'docs/mapping.md': [
    `statementTimeout: ${seconds('sourceStatement')}s`,
    `batchBytes: ${declared('src/mapping/language/read-sync.ts', '.batchBytes ??')}MiB`,
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
  expect(chunkMib).toBe(8);
});
