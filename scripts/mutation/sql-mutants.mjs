/** Mutants of SQL in the texts of a TypeScript file: what Stryker takes for words. */
import ts from 'typescript';

const SQL = /\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|FROM|WHERE|JOIN|CASE WHEN|HAVING|ORDER BY)\b/;
const CLAUSES = /\b(?:SELECT|SET|WHERE|AND|OR|ON|WHEN|HAVING|FILTER|VALUES|RETURNING|FROM|USING|THEN|ELSE)\b/g;
/** Only behind one of these does `=` compare, and not behind a comma: `SET a = b AND c, d = e`. */
const CONDITIONS = new Set(['WHERE', 'AND', 'OR', 'ON', 'WHEN', 'HAVING']);

/**
 * What is replaced, and by what. A function gets the match and the SQL before it; it returns null where there is nothing to try.
 * @type {readonly (readonly [RegExp, string | ((match: string, before: string) => string | null)])[]}
 */
const CHANGES = [
  [
    /(?<![-<>=!|@#:])(?:<=|>=|<>|<|>)(?![=>|@-])/g,
    (op) => ({ '<': '<=', '<=': '<', '>': '>=', '>=': '>', '<>': '=' })[op],
  ],
  [
    /(?<![-<>=!:])=(?![=>])/g,
    (_, before) => (CONDITIONS.has(lastClause(before)) && !/,\s*\w+\s*$/.test(before) ? '<>' : null),
  ],
  [/\bAND\b/g, (_, before) => (/\bBETWEEN\s+\S+\s*$/.test(before) ? null : 'OR')],
  [/\bOR\b/g, 'AND'],
  [/\bWHERE\b/g, 'WHERE true OR'],
  [/\bNOT EXISTS\b/g, 'EXISTS'],
  [/(?<!\bNOT )\bEXISTS\b/g, 'NOT EXISTS'],
  [/\bIS NULL\b/g, 'IS NOT NULL'],
  [/\bIS NOT NULL\b/g, 'IS NULL'],
  [/\bIS DISTINCT FROM\b/g, 'IS NOT DISTINCT FROM'],
  [/\bIS NOT DISTINCT FROM\b/g, 'IS DISTINCT FROM'],
  [/\bNOT (?=[a-z])/g, ''],
  [/\bmin(?=\()/g, 'max'],
  [/\bmax(?=\()/g, 'min'],
  [/\bleast(?=\()/g, 'greatest'],
  [/\bgreatest(?=\()/g, 'least'],
  [/\bbool_and(?=\()/g, 'bool_or'],
  [/\bbool_or(?=\()/g, 'bool_and'],
  [/\btrue\b/g, 'false'],
  [/\bfalse\b/g, 'true'],
  [/ \+ (?=\S)/g, ' - '],
  [/ - (?=\S)/g, ' + '],
  [/\bLEFT JOIN\b/g, 'JOIN'],
  [/\bDESC\b/g, 'ASC'],
  [/\bFOR (?:NO KEY UPDATE|UPDATE|KEY SHARE|SHARE)\b(?: OF [a-z]+)?(?: SKIP LOCKED)?/g, ''],
];

/**
 * @param {string} file its name, for the compiler
 * @param {string} source its text
 * @returns {readonly { start: number, end: number, line: number, code: string, mutant: string, replacement: string, sent: string }[]} in
 * the order of the file: the characters that are replaced, the line of SQL before and after, and a pattern of the statements that
 * contain the SQL without the change
 */
export function sqlMutantsOf(file, source) {
  const mutants = textsOf(file, source).flatMap((parts) => mutantsOfText(source, parts));
  return mutants.toSorted((a, b) => a.start - b.start || a.replacement.localeCompare(b.replacement));
}

/** The texts with SQL, each with where its parts begin and end: a template has several. */
function textsOf(file, source) {
  const texts = [];
  const visit = (node) => {
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node))
      texts.push([{ start: node.getStart() + 1, end: node.end - 1 }]);
    if (ts.isTemplateExpression(node)) {
      const parts = [node.head, ...node.templateSpans.map(({ literal }) => literal)];
      texts.push(
        parts.map((part) => ({ start: part.getStart() + 1, end: part.end - (ts.isTemplateTail(part) ? 1 : 2) })),
      );
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true));
  return texts.filter((parts) => parts.some(({ start, end }) => SQL.test(source.slice(start, end))));
}

function mutantsOfText(source, parts) {
  const mutants = [];
  let before = '';
  for (const { start, end } of parts) {
    const sql = withoutWords(source.slice(start, end));
    const sent = sentAs(source.slice(start, end));
    for (const [pattern, change] of CHANGES)
      for (const { 0: match, index } of sql.matchAll(pattern)) {
        const replacement = typeof change === 'string' ? change : change(match, before + sql.slice(0, index));
        if (replacement !== null) mutants.push({ ...mutantAt(source, start + index, match, replacement), sent });
      }
    before += `${sql} ? `;
  }
  return mutants;
}

/** The SQL with blanks for what is quoted or a comment, so that everything else stays where it is. */
const withoutWords = (sql) => sql.replaceAll(/--[^\n]*|'(?:[^']|'')*'/g, (words) => ' '.repeat(words.length));

/** A pattern of what the driver sends for a part of a text: bindings by their numbers. */
const sentAs = (sql) =>
  sql
    .split(/\?\??|(?<!:):[a-zA-Z]\w*/)
    .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
    .join('(?:\\$\\d+|"[^"]*")');

const lastClause = (before) => before.match(CLAUSES)?.at(-1);

function mutantAt(source, start, match, replacement) {
  const end = start + match.length;
  const from = source.lastIndexOf('\n', start) + 1;
  const to = source.indexOf('\n', end);
  const lineWith = (text) =>
    `${source.slice(from, start)}${text}${source.slice(end, to)}`.trim().replaceAll(/\s+/g, ' ');
  const line = source.slice(0, start).split('\n').length;
  return { start, end, line, code: lineWith(match), mutant: lineWith(replacement), replacement };
}
