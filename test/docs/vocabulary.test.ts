/** Names in the code use the words of docs/glossary.md and plain words (plain-words.txt), and none of the retired words. */
import { readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ERROR_CATALOGUE } from '../../src/domain/errors.js';
import { LEDGER_METRICS, WORKER_METRICS } from '../../src/domain/monitoring/metrics.js';
import { SEARCH_ATTRIBUTES } from '../../src/domain/run/search-attributes.js';
import {
  CODE,
  exportsOf,
  fieldsIn,
  filesOf,
  keysOfSchema,
  namesInMigrations,
  stemOf,
  wordsIn,
  type Name,
} from './names.js';
import { readPage, ROOT } from './pages.js';

const terms = [
  ...readPage('docs/glossary.md')
    .text.replaceAll(/\s+/g, ' ')
    .matchAll(/\*\*([^*]+)\*\*/g),
].map(([, term]) => term!);

/** Words that every data engineer knows: ordinary English, and those of computing. */
const PLAIN_WORDS = readFileSync(join(ROOT, 'test/docs/plain-words.txt'), 'utf8').split(/\s+/).filter(Boolean);

const KNOWN = new Set([...terms, ...PLAIN_WORDS].flatMap(wordsIn).map(stemOf));

/** The words in names that are neither in the glossary nor plain, each with one name that it is in. */
function unknownWords(names: readonly Name[]): string[] {
  const unknown = new Map<string, string>();
  for (const { name, at } of names)
    for (const word of wordsIn(name))
      if (!/^\d+$/.test(word) && !KNOWN.has(stemOf(word))) unknown.set(word, `${word} (${name}, ${at})`);
  return [...unknown.values()];
}

interface Replacement {
  /** Words of the glossary. */
  readonly use: string;
  /** The word before it with which it is right: `letter` after `dead`. */
  readonly after?: string;
  /** The word behind it with which it is right: `look` before `up`. */
  readonly before?: string;
  /** Whether it is right as a whole name: the `answer` of a workflow to an Update. */
  readonly alone?: boolean;
}

/** Words that were given up. A key of several words is looked for as these words in a row. */
const RETIRED: Readonly<Record<string, Replacement>> = {
  fence: { use: 'high watermark' },
  epoch: { use: 'fencing token' },
  slice: { use: 'time slice', after: 'time' },
  'load result': { use: 'time slice' },
  'load time': { use: 'time slice' },
  'run load': { use: 'time slice' },
  'chunk turn': { use: 'chunk slot' },
  'let go': { use: 'dropped' },
  book: { use: 'counts' },
  letter: { use: 'dead letter', after: 'dead' },
  clash: { use: 'duplicate external id' },
  ahead: { use: 'first pass' },
  orphan: { use: 'child' },
  patience: { use: 'retry delay' },
  unclear: { use: 'unknown' },
  fate: { use: 'outcome' },
  verdict: { use: 'outcome' },
  standing: { use: 'outcome' },
  receipt: { use: 'accepted hash' },
  stamp: { use: 'read sequence number' },
  owe: { use: 'undelivered' },
  owed: { use: 'undelivered' },
  mend: { use: 'fix' },
  revive: { use: 'retry' },
  wake: { use: 'retry' },
  held: { use: 'pending' },
  parked: { use: 'queued' },
  met: { use: 'sent in this run' },
  elsewhere: { use: 'on another worker' },
  drift: { use: 'schema drift', after: 'schema' },
  'platform words': { use: 'platform message' },
  'failure words': { use: 'message' },
  'library words': { use: 'result' },
  answer: { use: 'response', alone: true },
  'chunk outcome': { use: 'checkpoint' },
  'of child': { use: 'parent' },
  busy: { use: 'contended', after: 'platform' },
  recount: { use: 'counts' },
  uncount: { use: 'counts' },
  noted: { use: 'recorded' },
  look: { use: 'evaluation', before: 'up' },
  looked: { use: 'evaluation' },
  trouble: { use: 'retrying' },
  notice: { use: 'notification' },
  untold: { use: 'due' },
  reread: { use: 'retry' },
  lane: { use: 'fair semaphore' },
  'in step': { use: 'accepted hash' },
  circle: { use: 'cycle' },
  outlook: { use: 'backlog' },
  streak: { use: 'runs since success' },
  tap: { use: 'interceptor' },
};

/** What is wrong with a name, or undefined: the retired word, and the one to use instead. */
function wrongWith(name: string): string | undefined {
  // A list of ours may have `slice` as JavaScript's lists do.
  if (name in Array.prototype) return undefined;
  const words = wordsIn(name);
  for (const [retired, { use, after, before, alone }] of Object.entries(RETIRED)) {
    if (alone === true && name === retired) continue;
    const sought = wordsIn(retired);
    const isRetired = (at: number): boolean =>
      sought.every((word, i) => words[at + i] === word) &&
      (after === undefined || words[at - 1] !== after) &&
      (before === undefined || words[at + sought.length] !== before);
    if (words.some((_, at) => isRetired(at))) return `"${retired}" is retired, use "${use}"`;
  }
  return undefined;
}

const wrongNames = (names: readonly Name[]): string[] =>
  names.flatMap(({ name, at }) => {
    const wrong = wrongWith(name);
    return wrong === undefined ? [] : [`${at}: ${name}: ${wrong}`];
  });

describe('the glossary', () => {
  it('explains each word once', () => {
    expect(terms.filter((term, i) => terms.indexOf(term) !== i)).toEqual([]);
  });

  it('has every replacement of a retired word, and no retired word', () => {
    const uses = Object.values(RETIRED).map(({ use }) => use);
    expect(unknownWords(uses.map((name) => ({ name, at: 'RETIRED' })))).toEqual([]);
    expect(wrongNames(terms.map((name) => ({ name, at: 'docs/glossary.md' })))).toEqual([]);
  });

  it('has a word for each table of the ledger', () => {
    const known = terms.map((term) => wordsIn(term).join(' '));
    const tables = namesInMigrations().filter(({ table }) => table);
    expect(tables.length).toBeGreaterThan(10);
    const unknown = tables.filter(
      ({ name }) => !known.some((term) => ` ${wordsIn(name).join(' ')} `.includes(` ${term} `)),
    );
    expect(unknown.map(({ name }) => name)).toEqual([]);
  });
});

describe('the words of names', () => {
  const SCHEMAS = ['mapping', 'sync', 'examples'].map((file) => `mappings/${file}.schema.json`);
  const names = [
    ...CODE.flatMap(exportsOf),
    ...CODE.filter((path) => path.startsWith('src/cli/')).flatMap(fieldsIn),
    ...CODE.map((at) => ({ name: basename(at, extname(at)), at })),
    ...namesInMigrations(),
    ...SCHEMAS.flatMap(keysOfSchema),
    ...Object.keys({ ...WORKER_METRICS, ...LEDGER_METRICS }).map((name) => ({
      name,
      at: 'src/domain/monitoring/metrics.ts',
    })),
    ...Object.keys(SEARCH_ATTRIBUTES).map((name) => ({ name, at: 'src/domain/run/search-attributes.ts' })),
    ...Object.keys(ERROR_CATALOGUE).map((name) => ({ name, at: 'src/domain/errors.ts' })),
  ];

  it('are in the glossary, or every data engineer knows them', () => {
    expect(
      unknownWords(names),
      'Use the word of docs/glossary.md instead. If it is a word of ours, add it to the glossary; if every data engineer ' +
        'knows it, add it to test/docs/plain-words.txt.',
    ).toEqual([]);
  });

  it('are recognised in all their forms', () => {
    const sample = ['loadHutch', 'RETRIES', 'mappings', 'readings', 'delivered_at'].map((name) => ({
      name,
      at: 'here',
    }));
    expect(unknownWords(sample)).toEqual(['hutch (loadHutch, here)']);
  });

  it('are each in one of the two, in alphabetical order', () => {
    const headwords = new Set(terms.flatMap(wordsIn).map(stemOf));
    expect(PLAIN_WORDS.filter((word) => wordsIn(word).every((part) => headwords.has(stemOf(part))))).toEqual([]);
    expect(PLAIN_WORDS).toEqual([...new Set(PLAIN_WORDS)].sort());
  });
});

describe('names with retired words', () => {
  it('are distinguished from words that only look similar', () => {
    expect(wrongWith('readStamps')).toBe('"stamp" is retired, use "read sequence number"');
    expect(wrongWith('LETTERS_AT_ONCE')).toBe('"letter" is retired, use "dead letter"');
    expect(wrongWith('loadSlice')).toBe('"slice" is retired, use "time slice"');
    expect(wrongWith('platform-words.ts')).toBe('"platform words" is retired, use "platform message"');
    expect(wrongWith('answerLines')).toBe('"answer" is retired, use "response"');
    const fine = [
      'timestamp',
      'bookings',
      'slice',
      'run-time-slice.ts',
      'deadLetters',
      'DEAD_LETTER_LIST',
      'schemaDrift',
      'parameters',
      'fenced_off',
      'lookUpOf',
      'answer',
      'untilAnswered',
    ];
    expect(fine.map(wrongWith)).toEqual(fine.map(() => undefined));
  });

  it('are neither exported nor fields of an export', () => {
    const names = CODE.flatMap(exportsOf);
    expect(names.length).toBeGreaterThan(1000);
    expect(wrongNames(names)).toEqual([]);
  });

  it('are not fields of the JSON that commands print', () => {
    const names = CODE.filter((path) => path.startsWith('src/cli/')).flatMap(fieldsIn);
    expect(names.length).toBeGreaterThan(300);
    expect(wrongNames(names)).toEqual([]);
  });

  it('are not in the ledger', () => {
    const names = namesInMigrations();
    expect(names.length).toBeGreaterThan(80);
    expect(wrongNames(names)).toEqual([]);
  });

  it('are not codes of errors', () => {
    expect(wrongNames(Object.keys(ERROR_CATALOGUE).map((name) => ({ name, at: 'src/domain/errors.ts' })))).toEqual([]);
  });

  it('are not used for files', () => {
    const files = [...CODE, ...['docs', 'test', 'scripts'].flatMap((folder) => filesOf(folder))];
    expect(wrongNames(files.map((at) => ({ name: basename(at), at })))).toEqual([]);
  });
});
