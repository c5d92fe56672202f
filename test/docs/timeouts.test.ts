/** docs/reference.md shows the table of timeouts and retries as the code has it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/domain/values/json.js';
import { durationText, TIMEOUT_SECTIONS, type DurationName } from '../../src/domain/timeouts.js';
import { timeoutTable } from '../../src/domain/timeouts/describe-timeouts.js';
import { languageSchema } from '../../src/mapping/language/language-schema.js';
import { readPage, ROOT, sectionOf, tableIn } from './pages.js';

const REFERENCE = readPage('docs/reference.md');
/** All code but the table itself; it reads entries by their names. */
const CODE = ['src', 'workflows', 'activities']
  .flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  .filter((path) => /\.tsx?$/.test(path) && !path.startsWith(join('src', 'domain', 'timeouts')))
  .map((path) => readFileSync(join(ROOT, path), 'utf8'))
  .join('\n');

describe.each(Object.entries(TIMEOUT_SECTIONS))('the timeouts of: %s', (heading, entries) => {
  it('are on the page, in the order of the table, and no others', () => {
    expect(tableIn(sectionOf(REFERENCE, heading))).toEqual(tableIn(timeoutTable(Object.values(entries))));
  });

  it.each(Object.keys(entries))('is read by the code: %s', (name) => {
    expect(CODE.includes(`'${name}'`)).toBe(true);
  });
});

it('has a section on the page for each part of the table', () => {
  const section = sectionOf(REFERENCE, 'Timeouts and retries');
  const headings = [...section.matchAll(/^### (.+)$/gm)].map(([, heading]) => heading);
  expect(headings).toEqual(Object.keys(TIMEOUT_SECTIONS));
});

/** `['upload', 'waitForPending']` of a file of the language: the schema of that key. */
function keyOf(kind: 'sync' | 'mapping', path: readonly string[]): JsonObject {
  const schema = languageSchema(kind);
  return path.reduce<JsonObject>((at, key) => {
    const options = [at, ...((at['anyOf'] as JsonObject[] | undefined) ?? [])].map((part) => schema.resolve(part));
    const properties = options.map((part) => (part['properties'] ?? {}) as Readonly<Record<string, JsonObject>>);
    const found = properties.find((part) => part[key] !== undefined)![key]!;
    return found['items'] === undefined ? found : schema.resolve(found['items'] as JsonObject);
  }, schema.root);
}

const defaultOf = (kind: 'sync' | 'mapping', path: readonly string[]): JsonValue | undefined =>
  keyOf(kind, path)['default'];

it.each([
  ['sync', ['source', 'statementTimeout'], 'sourceStatement'],
  ['sync', ['upload', 'inDoubtDelay'], 'inDoubtDelay'],
  ['sync', ['upload', 'batchDeadline'], 'batchDeadline'],
  ['sync', ['upload', 'waitForPending'], 'waitForPending'],
  ['sync', ['retention', 'batches'], 'keepBatches'],
  ['sync', ['retention', 'partitions'], 'keepPartitions'],
  ['sync', ['retention', 'removalPlans'], 'keepRemovalPlans'],
  ['sync', ['retention', 'runs'], 'keepRuns'],
  ['sync', ['retention', 'audit'], 'keepAudit'],
  ['sync', ['schedules', 'catchupWindow'], 'catchupWindow'],
  ['sync', ['schedules', 'jitter'], 'scheduleJitter'],
  ['mapping', ['cursor', 'overlap'], 'overlap'],
  ['mapping', ['options', 'dependencyWaitTimeout'], 'dependencyWait'],
] as const)('is the source of the default of %j in the %s files', (kind, path, name: DurationName) => {
  expect(defaultOf(kind, path)).toBe(durationText(name));
});

describe('a length of time or a number of attempts outside the table', () => {
  /** A number, or a duration in quotes. 0 and 1 are left: they switch something off, or do it once. */
  const AMOUNT = /^['"]?(0?\.\d|[2-9]|1[\d_.a-z])/;
  const LENGTH_OF_TIME =
    /(timeout|timeoutMs|timeoutMillis|interval|delay|deadline|backoff|maximumAttempts|backoffCoefficient)$/i;
  const WAIT = /^(setTimeout|setInterval|sleep|delay|AbortSignal\.timeout)$/;

  /** Whether the node gives a name for a length of time its value, or waits for as long as an argument says. */
  function usesLengthOfTime(node: ts.Node, value: ts.Node): boolean {
    if (ts.isCallExpression(node)) return value !== node.expression && WAIT.test(node.expression.getText());
    const isNamed = ts.isPropertyAssignment(node) || ts.isVariableDeclaration(node) || ts.isParameter(node);
    return isNamed && node.initializer === value && LENGTH_OF_TIME.test(node.name.getText());
  }

  /** Whether it is in an example of a file that users write. */
  const isExample = (node: ts.Node): boolean =>
    (ts.isPropertyAssignment(node) && node.name.getText() === 'examples') ||
    (node.parent !== undefined && isExample(node.parent));

  /** The lines of TypeScript code that have one. */
  function linesFound(code: string, path = 'new.ts'): number[] {
    const file = ts.createSourceFile(path, code, ts.ScriptTarget.Latest, true);
    const lines = new Set<number>();
    const visit = (node: ts.Node): void => {
      if ((ts.isNumericLiteral(node) || ts.isStringLiteral(node)) && AMOUNT.test(node.getText())) {
        const { parent } = node;
        const value = ts.isBinaryExpression(parent) && parent.left === node ? parent : node;
        if (usesLengthOfTime(value.parent, value) && !isExample(node))
          lines.add(file.getLineAndCharacterOfPosition(node.getStart()).line + 1);
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
    return [...lines];
  }

  it('does not stand in the code', () => {
    const files = ['src', 'activities', 'workflows'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    );
    const checked = files.filter((path) => /\.tsx?$/.test(path) && !path.startsWith('src/domain/timeouts/'));
    expect(checked.length).toBeGreaterThan(500);
    expect(
      checked.flatMap((path) =>
        linesFound(readFileSync(join(ROOT, path), 'utf8'), path).map((line) => `${path}:${line}`),
      ),
      'Give it an entry in src/domain/timeouts/, with the reason for its value, and read it by its name.',
    ).toEqual([]);
  });

  it('is found however it is written', () => {
    const code = [
      `setTimeout(retry, 5000);`,
      `await sleep('30s');`,
      `await sleep(60 * 1000, undefined, { signal });`,
      `const signal = AbortSignal.timeout(1_500);`,
      `proxyActivities({ startToCloseTimeout: '1m', retry: { maximumAttempts: 3 } });`,
      `const POLL_INTERVAL = 250;`,
      `const poll = (delay = 2 ) => delay;`,
    ];
    expect(linesFound(code.join('\n'))).toEqual(code.map((_, i) => i + 1));
  });

  it('is not confused with an entry of the table, or with an example for users', () => {
    const code = [
      `setTimeout(retry, milliseconds('retryFirst')); setTimeout(retry, 0);`,
      'await sleep(`${seconds} s`); await sleep(pause * (0.75 + Math.random() / 2));',
      `const client = { timeout: milliseconds('alertRequest'), examples: [{ dependencyWaitTimeout: '10m' }] };`,
      `let interval = 0;`,
    ];
    expect(linesFound(code.join('\n'))).toEqual([]);
  });
});
