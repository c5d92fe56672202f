/** Reads the documentation pages and their parts: tables, headings, links and commands. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Page {
  /** Relative to the root: `docs/errors.md`. */
  readonly path: string;
  readonly text: string;
}

export interface Link {
  readonly page: string;
  readonly target: string;
  /** Absolute path that is meant. */
  readonly file: string;
  /** Without `#`; empty for the page as a whole. */
  readonly anchor: string;
}

export const readPage = (path: string): Page => ({ path, text: readFileSync(join(ROOT, path), 'utf8') });

/** README, the other pages at the root, and everything under docs. */
export const PAGES: readonly Page[] = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name))
    .sort(),
].map(readPage);

/** What stands under a heading, up to the next one of the same or a higher level. */
export function sectionOf(page: Page, heading: string): string {
  const lines = page.text.split('\n');
  const at = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === heading);
  if (at < 0) throw new Error(`${page.path} has no heading "${heading}"`);
  const level = /^#+/.exec(lines[at]!)![0].length;
  const end = lines.findIndex((line, i) => i > at && new RegExp(`^#{1,${level}} `).test(line));
  return lines.slice(at + 1, end < 0 ? undefined : end).join('\n');
}

/** The cells of the first table in a text, heading and rule left out, without the padding that Prettier adds. */
export function tableIn(text: string): string[][] {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => line.startsWith('|'));
  const rows: string[][] = [];
  for (const line of lines.slice(first)) {
    if (!line.startsWith('|')) break;
    const cells = line.split(/(?<!\\)\|/).slice(1, -1);
    rows.push(cells.map((cell) => cell.trim().replaceAll('\\|', '|')));
  }
  return rows.slice(2);
}

export const withoutTicks = (cell: string): string => cell.replace(/^`(.*)`$/, '$1');

/** Links that lead to files of the project. */
export function linksOf({ path, text }: Page): Link[] {
  const targets = [...text.replace(/```[\s\S]*?```/g, '').matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]!);
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [file = '', anchor = ''] = target.split('#');
      return { page: path, target, anchor, file: file === '' ? join(ROOT, path) : resolve(ROOT, dirname(path), file) };
    });
}

/** The anchors that a page's headings make, as code hosts spell them. */
export function anchorsOf({ text }: Page): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

export const fromRoot = (file: string): string => relative(ROOT, file);
