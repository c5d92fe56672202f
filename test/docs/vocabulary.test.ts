/** Names in the code use the words of docs/glossary.md, and none of the retired words. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { ERROR_CATALOGUE } from '../../src/domain/errors.js';
import { readPage, ROOT } from './pages.js';

const terms = [
  ...readPage('docs/glossary.md')
    .text.replaceAll(/\s+/g, ' ')
    .matchAll(/\*\*([^*]+)\*\*/g),
].map(([, term]) => term!);

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
};

/** `DEAD_LETTER_LIST`, `deadLetters`, `dead-letters.ts`: dead, letter, ...; plurals as singulars. */
const wordsIn = (name: string): string[] =>
  name
    .replaceAll(/([a-z\d])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$3 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '')
    .map((word) => word.replace(/(?<=sh|ss|ch|x)es$|(?<=[^s])s$/, ''));

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

const wrongNames = (names: readonly { readonly name: string; readonly at: string }[]): string[] =>
  names.flatMap(({ name, at }) => {
    const wrong = wrongWith(name);
    return wrong === undefined ? [] : [`${at}: ${name}: ${wrong}`];
  });

const filesOf = (folder: string, extension = ''): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(extension))
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length));

const CODE = ['src', 'activities', 'workflows'].flatMap((folder) => filesOf(folder, '.ts'));

/** What a file exports, and the members of the types, classes and interfaces among it. */
function exportsOf(path: string): { name: string; at: string }[] {
  const file = ts.createSourceFile(path, readFileSync(join(ROOT, path), 'utf8'), ts.ScriptTarget.Latest, true);
  const found: { name: string; at: string }[] = [];
  const add = (node: ts.Node): void => {
    const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    if (ts.isIdentifier(node) || ts.isStringLiteral(node)) found.push({ name: node.text, at: `${path}:${line}` });
  };
  const addBound = (name: ts.BindingName): void => {
    if (ts.isIdentifier(name)) add(name);
    else for (const element of name.elements) if (ts.isBindingElement(element)) addBound(element.name);
  };
  const addMembers = (node: ts.Node): void => {
    if ((ts.isPropertySignature(node) || ts.isMethodSignature(node) || ts.isClassElement(node)) && node.name)
      add(node.name);
    if (!ts.isBlock(node)) ts.forEachChild(node, addMembers);
  };
  for (const statement of file.statements) {
    if (ts.isExportDeclaration(statement) && statement.exportClause && ts.isNamedExports(statement.exportClause))
      for (const { name } of statement.exportClause.elements) add(name);
    const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
    if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) continue;
    if (ts.isVariableStatement(statement))
      for (const { name } of statement.declarationList.declarations) addBound(name);
    else if ('name' in statement) add(statement.name as ts.Node);
    if (
      ts.isInterfaceDeclaration(statement) ||
      ts.isTypeAliasDeclaration(statement) ||
      ts.isClassDeclaration(statement)
    )
      ts.forEachChild(statement, addMembers);
  }
  return found;
}

/** Fields of the objects that a file makes: those of the command line become its JSON. */
function fieldsIn(path: string): { name: string; at: string }[] {
  const file = ts.createSourceFile(path, readFileSync(join(ROOT, path), 'utf8'), ts.ScriptTarget.Latest, true);
  const found: { name: string; at: string }[] = [];
  const visit = (node: ts.Node): void => {
    if (
      (ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node)) &&
      !ts.isComputedPropertyName(node.name)
    )
      found.push({
        name: node.name.text,
        at: `${path}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`,
      });
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Tables, their columns, indexes and sequences, as the migrations create them. */
function namesInMigrations(): { name: string; table: boolean; at: string }[] {
  return filesOf('src/ledger/migrations', '.ts').flatMap((path) => {
    const sql = readFileSync(join(ROOT, path), 'utf8').replaceAll(/--.*|\/\*[^]*?\*\//g, '');
    const created = [...sql.matchAll(/CREATE (TABLE|INDEX|SEQUENCE) (\w+)/g)];
    const columns = [
      ...sql.matchAll(/^ {4}([a-z_]+) (?:smallint|integer|bigint|text|boolean|bytea|jsonb?|timestamptz)/gm),
    ];
    return [
      ...created.map(([, kind, name]) => ({ name: name!, table: kind === 'TABLE', at: path })),
      ...columns.map(([, name]) => ({ name: name!, table: false, at: path })),
    ];
  });
}

describe('the glossary', () => {
  it('explains each word once', () => {
    expect(terms.filter((term, i) => terms.indexOf(term) !== i)).toEqual([]);
  });

  it('has every replacement of a retired word, and no retired word', () => {
    const plain = ['fix', 'message', 'recorded', 'response', 'result', 'retry', 'unknown'];
    const uses = Object.values(RETIRED).map(({ use }) => use);
    expect(uses.filter((use) => !terms.includes(use) && !plain.includes(use))).toEqual([]);
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
