/**
 * YAML (or JSON) to plain values with their places: only the core schema, nothing ambiguous accepted, nothing executed.
 */
import {
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type YAMLError,
  type Document,
  type ErrorCode,
  type Node,
  type Pair,
  type Scalar,
  type YAMLMap,
} from 'yaml';
import type { FindingKind } from '../../domain/sync/finding.js';
import type { JsonValue } from '../../domain/values/json.js';
import { isText } from '../../domain/values/text.js';
import { canonicalDecimal, isPlainNumber } from '../encode/exact-number.js';
import { isTooDeep } from './estimate-nesting.js';
import type { Path, Place } from './place.js';

/** Deeper nesting is an attack or an accident, and every walk over the values is recursive. */
const DEEPEST = 32;
/** Stops alias bombs (a few lines that expand to billions of nodes). */
const MOST_ALIASES = 100;

/** Problems after which no value can be made of the text. */
const UNREADABLE: readonly string[] = ['syntax', 'too_deep', 'alias_missing', 'too_many_aliases', 'tag'];

/** What the author did, where the parser says what it encountered. */
const WORDS: Readonly<Partial<Record<ErrorCode, string>>> = {
  DUPLICATE_KEY: 'the same key twice; remove one of them',
  BLOCK_AS_IMPLICIT_KEY: 'a key inside a value; is the next line indented too far?',
  MULTILINE_IMPLICIT_KEY:
    'a key that continues on the next line; is a blank missing after a colon, or a line indented too far?',
  TAB_AS_INDENT: 'a tab as indentation; use blanks',
  MULTIPLE_DOCS: 'a second document (---) in the file; write one only',
};

/** A problem of the text as YAML, before anything is known about its meaning. */
export interface DocumentProblem extends Place {
  readonly kind: FindingKind;
  readonly message: string;
}

/** The values of a text, and where they are. */
export interface ParsedDocument {
  /** undefined if the text could not be understood at all. */
  readonly value: JsonValue | undefined;
  readonly problems: readonly DocumentProblem[];
  /** Where a key or its value is, or the nearest parent that is written. */
  place(path: Path, at: 'key' | 'value'): Place;
}

/**
 * Parses a text. Never throws for what it contains. Numbers that YAML would change, tags and duplicate keys are
 * problems: a lenient reader would accept them, and the mapping would do something other than it says.
 */
export function parseYaml(text: string): ParsedDocument {
  const lines = new LineCounter();
  const at = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  if (isTooDeep(text))
    return broken({ kind: 'too_deep', message: `nested deeper than ${DEEPEST} levels`, line: 1, column: 1 });
  const document = parseDocument(text, {
    lineCounter: lines,
    version: '1.2',
    schema: 'core',
    strict: true,
    uniqueKeys: true,
    prettyErrors: false,
    // 'silent' would also be silent about a second document.
    logLevel: 'error',
  });
  const problems: DocumentProblem[] = withoutConsequences([...document.errors, ...document.warnings]).map(
    (error): DocumentProblem => ({
      kind: error.code === 'DUPLICATE_KEY' ? 'duplicate_key' : 'syntax',
      message: `${WORDS[error.code] ?? error.message}${error.code === 'TAB_AS_INDENT' ? othersWithTabs(text) : ''}`,
      ...at(error.pos[0]),
    }),
  );
  problems.push(...doubtfulNodes(document, at));
  const place = (path: Path, of: 'key' | 'value'): Place => {
    const node = nodeAt(document, path, of);
    return node?.range ? at(node.range[0]) : { line: 1, column: 1 };
  };
  // With a doubtful number or a duplicate key, the rest can be read, and its mistakes found.
  if (problems.some((problem) => UNREADABLE.includes(problem.kind))) return { value: undefined, problems, place };
  try {
    return { value: document.toJS({ maxAliasCount: MOST_ALIASES }) as JsonValue, problems, place };
  } catch {
    return broken({
      kind: 'too_many_aliases',
      message: 'aliases (*name) expand to too much; write the values out',
      line: 1,
      column: 1,
    });
  }
}

/**
 * The problems that are not said to follow from another: the second of two at one place, lines that do not fit the first
 * line that is indented wrongly, and all that the parser makes of a file below a tab.
 */
function withoutConsequences(errors: readonly YAMLError[]): YAMLError[] {
  const inOrder = errors.toSorted((a, b) => a.pos[0] - b.pos[0]);
  const tab = inOrder.findIndex(({ code }) => code === 'TAB_AS_INDENT');
  const sameFault = (a: YAMLError, b: YAMLError): boolean =>
    a.pos[0] === b.pos[0] || (a.code === 'BAD_INDENT' && b.code === 'BAD_INDENT');
  return (tab < 0 ? inOrder : inOrder.slice(0, tab + 1)).filter(
    (error, index, all) => all.findIndex((other) => sameFault(error, other)) === index,
  );
}

function othersWithTabs(text: string): string {
  const count = text.split('\n').filter((line) => /^ *\t/.test(line)).length;
  return count < 2 ? '' : ` (${count} lines begin with one)`;
}

const broken = (problem: DocumentProblem): ParsedDocument => ({
  value: undefined,
  problems: [problem],
  place: () => ({ line: 1, column: 1 }),
});

/** Values that YAML would read differently from what is written, and nesting by indentation. */
function doubtfulNodes(document: Document.Parsed, at: (offset: number) => Place): DocumentProblem[] {
  const found: DocumentProblem[] = [];
  const report = (node: { range?: [number, number, number] | null }, kind: FindingKind, message: string): void => {
    found.push({ kind, message, ...at(node.range?.[0] ?? 0) });
  };
  visit(document, {
    Alias(_key, node, ancestors) {
      const target = node.resolve(document);
      if (target === undefined)
        report(node, 'alias_missing', `nothing is named &${node.source} above; quote a text that begins with *`);
      // It has no end, and everything that walks over the values would look for one.
      else if (ancestors.includes(target))
        report(node, 'too_many_aliases', `*${node.source} stands in what it is the name of; write the values out`);
    },
    Scalar(key, node, ancestors) {
      if (typeof node.value === 'string' && !(isText(node.value) || node.value === ''))
        report(
          node,
          'bad_text',
          'contains U+0000 or half a character, which neither databases nor the platform can hold',
        );
      if (node.tag !== undefined) report(node, 'tag', 'tags (!) are not supported; write the plain value');
      if (typeof node.value === 'string') return;
      const source = node.source ?? String(node.value);
      const read = node.value === null ? '' : `${node.value as number | boolean}`;
      // Keys, and values of columns, are compared as texts.
      if ((key === 'key' || isComparedAsText(ancestors)) && source !== read)
        return report(node, 'doubtful_number', `${source} would be read as ${read || 'an empty text'}; quote it`);
      if (typeof node.value !== 'number' || key === 'key') return;
      const exact = isPlainNumber(source) && canonicalDecimal(source) === canonicalDecimal(String(node.value));
      const safe = !Number.isInteger(node.value) || Number.isSafeInteger(node.value);
      if (!exact || !safe)
        report(
          node,
          'doubtful_number',
          `${source} would be read as ${node.value}; quote it, or write the number plainly`,
        );
    },
    Collection(_key, node, ancestors) {
      if (isMap(node))
        for (const key of quotedTwice(node))
          report(key, 'duplicate_key', `${WORDS.DUPLICATE_KEY}: with and without quotes, it is the same`);
      if (ancestors.filter((ancestor) => !isPair(ancestor)).length <= DEEPEST) return undefined;
      report(node, 'too_deep', `nested deeper than ${DEEPEST} levels`);
      return visit.BREAK;
    },
  });
  return found;
}

/** Keys that a key before them equals but for its quotes, as 1 and "1"; the parser finds the others that are equal. */
function quotedTwice({ items }: YAMLMap): Scalar[] {
  const keys = items.flatMap(({ key }) => (isScalar(key) ? [key] : []));
  const types = new Map<string, string>();
  return keys.filter(({ value }) => {
    const before = types.get(String(value));
    types.set(String(value), typeof value);
    return before !== undefined && before !== typeof value;
  });
}

/** Options of transforms that list values of a column, which are compared letter by letter, or sent as texts. */
const LISTS_OF_VALUES: readonly unknown[] = ['equals', 'true', 'false', 'map'];

/** Whether a node with these ancestors is an entry of such an option. */
function isComparedAsText(ancestors: readonly unknown[]): boolean {
  const keys = ancestors.flatMap((ancestor) => (isPair(ancestor) && isScalar(ancestor.key) ? [ancestor.key] : []));
  // The value of a pair in the map of the option, or an entry of its list.
  const option = isPair(ancestors.at(-1)) ? keys.at(-2) : keys.at(-1);
  return LISTS_OF_VALUES.includes(String(option?.value)) && keys.some(({ value }) => value === 'transforms');
}

function nodeAt(document: Document.Parsed, path: Path, of: 'key' | 'value'): Node | null {
  let node: Node | null = document.contents;
  let key: Node | null = node;
  for (const step of path) {
    const target: Node | null | undefined = isAlias(node) ? node.resolve(document) : node;
    if (isMap(target)) {
      const pair = target.items.find((item) => isScalar(item.key) && String(item.key.value) === String(step)) as
        | Pair<Node, Node | null>
        | undefined;
      if (pair === undefined) return node;
      // A key without a value: the key is the nearest thing that is written.
      [key, node] = [pair.key, pair.value?.range ? pair.value : pair.key];
    } else if (isSeq(target) && typeof step === 'number' && target.items[step] !== undefined) {
      node = target.items[step] as Node;
      key = node;
    } else return node;
  }
  return of === 'key' ? key : node;
}
