/** Collects the names that the code uses: exports and their members, fields, tables and columns, files. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from './pages.js';

export interface Name {
  readonly name: string;
  /** File and line. */
  readonly at: string;
}

/** `DEAD_LETTER_LIST`, `deadLetters`, `dead-letters.ts`: dead, letter, ...; plurals as singulars. */
export const wordsIn = (name: string): string[] =>
  name
    .replaceAll(/([a-z\d])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$3 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '')
    .map((word) => word.replace(/(?<=sh|ss|ch|x)es$|(?<=[^s])s$/, ''));

/** The same for `entry` and `entries`, or `read` and `reading`. Simple: it need not be right, only the same for two forms. */
export const stemOf = (word: string): string =>
  word
    .replace(/ies?$|ied$/, 'y')
    .replace(/(?<=...)ing$|(?<=..)ed$/, '')
    .replace(/([b-df-hj-np-tv-z])\1$/, '$1')
    .replace(/e$/, '');

export const filesOf = (folder: string, extension = ''): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(extension))
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length));

export const CODE = ['src', 'activities', 'workflows'].flatMap((folder) =>
  filesOf(folder).filter((path) => /\.tsx?$/.test(path)),
);

/** What a file exports, and the members of the types, classes and interfaces among it. */
export function exportsOf(path: string): Name[] {
  const file = ts.createSourceFile(path, readFileSync(join(ROOT, path), 'utf8'), ts.ScriptTarget.Latest, true);
  const found: Name[] = [];
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
export function fieldsIn(path: string): Name[] {
  const file = ts.createSourceFile(path, readFileSync(join(ROOT, path), 'utf8'), ts.ScriptTarget.Latest, true);
  const found: Name[] = [];
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
export function namesInMigrations(): (Name & { readonly table: boolean })[] {
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

/** The keys that a JSON Schema of a file in `mappings` declares. */
export function keysOfSchema(path: string): Name[] {
  const found: Name[] = [];
  JSON.parse(readFileSync(join(ROOT, path), 'utf8'), (key, value: unknown) => {
    if (key === 'properties') found.push(...Object.keys(value as object).map((name) => ({ name, at: path })));
    return value;
  });
  return found;
}
