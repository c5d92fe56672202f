/** The entries of docs/something-is-wrong.md as data, whose command lines tests execute as they stand on the page. */
import { expect } from 'vitest';
import { runInProcess } from '../cli/in-process.js';
import type { CommandEnd } from '../cli/command-line.js';
import { readPage, sectionOf, type Page } from './pages.js';

export const SOMETHING_IS_WRONG: Page = readPage('docs/something-is-wrong.md');

/** The command lines in a text, without `npx partner-sync`. */
export const commandLinesOf = (text: string): string[] =>
  [...text.matchAll(/(?:`|^)npx partner-sync ([^`#\n]+)/gm)].map(([, words]) => words!.trim());

/** The entries in a part of the page. */
export const headingsUnder = (part: string): string[] =>
  [...sectionOf(SOMETHING_IS_WRONG, part).matchAll(/^### (\S+)$/gm)].map(([, name]) => name!);

/** What the page tells an operator to do about a problem or an alert. */
export interface Entry {
  readonly diagnose: readonly string[];
  readonly fix: readonly string[];
}

/** The command lines of an entry, each once, in the page's order. */
export function entryOf(heading: string): Entry {
  const [, diagnose, fix] = sectionOf(SOMETHING_IS_WRONG, heading).split(/^- \*\*(?:Diagnose|Fix):\*\*/m);
  if (diagnose === undefined || fix === undefined) throw new Error(`"${heading}" does not say both what to do`);
  const linesIn = (text: string): string[] => [...new Set(commandLinesOf(text))];
  return { diagnose: linesIn(diagnose), fix: linesIn(fix) };
}

/** The one of these command lines that matches. */
export function lineLike(lines: readonly string[], pattern: RegExp): string {
  const found = lines.filter((line) => pattern.test(line));
  if (found.length !== 1) throw new Error(`${found.length} lines of the page match ${pattern}: ${lines.join('; ')}`);
  return found[0]!;
}

/**
 * Executes a command line of the page.
 *
 * @param values what an operator would put in place of `<sync>` and the like, by name
 * @param answer what the operator types when asked
 */
export function execute(
  line: string,
  values: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
  answer?: string,
): Promise<CommandEnd> {
  const words = line.split(/\s+/).map((word) =>
    word.replace(/^<(.+)>$/, (_, name: string) => {
      if (values[name] === undefined) throw new Error(`"${line}": the test does not know <${name}>`);
      return values[name];
    }),
  );
  return runInProcess(words, env, answer);
}

/** By heading of the page: what each command line under Diagnose shows, in the page's order. */
export type Shows = Readonly<Record<string, readonly RegExp[]>>;

/** Executes all command lines under Diagnose, each once, and compares what they print. */
export async function diagnose(
  shows: Shows,
  values: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
  answer?: string,
): Promise<void> {
  const printed = new Map<string, string>();
  for (const [heading, patterns] of Object.entries(shows)) {
    const lines = entryOf(heading).diagnose;
    expect(patterns, `patterns for "${lines.join('", "')}"`).toHaveLength(lines.length);
    for (const [i, line] of lines.entries()) {
      if (!printed.has(line)) {
        const { stdout, stderr } = await execute(line, values, env, answer);
        printed.set(line, stdout + stderr);
      }
      expect(printed.get(line), `${heading}: ${line}`).toMatch(patterns[i]!);
    }
  }
}
