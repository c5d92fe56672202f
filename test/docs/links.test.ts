/** Links lead to existing files and headings, and every decision is listed. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anchorsOf, fromRoot, linksOf, PAGES, readPage, ROOT, sectionOf } from './pages.js';

describe.each(PAGES)('$path', (page) => {
  const links = linksOf(page);

  it('links only to files that exist', () => {
    expect(links.filter(({ file }) => !existsSync(file)).map(({ target }) => target)).toEqual([]);
  });

  it('links only to headings that exist', () => {
    const broken = links.filter(
      ({ file, anchor }) => anchor !== '' && existsSync(file) && !anchorsOf(readPage(fromRoot(file))).includes(anchor),
    );
    expect(broken.map(({ target }) => target)).toEqual([]);
  });
});

it('shows every picture on some page, with a description', () => {
  const shown = PAGES.flatMap((page) =>
    [...page.text.matchAll(/!\[([^\]]*)\]\(([^)\s]+)\)/g)].map(([, description, target]) => ({
      description: description!,
      file: fromRoot(join(ROOT, dirname(page.path), target!)),
    })),
  );
  expect(shown.filter(({ description }) => description.length < 20)).toEqual([]);
  const there = readdirSync(join(ROOT, 'docs/images')).map((name) => join('docs/images', name));
  expect([...new Set(shown.map(({ file }) => file))].sort()).toEqual(there.sort());
});

describe('the decisions', () => {
  it('are all listed on the page about the architecture', () => {
    const page = readPage('docs/architecture.md');
    const listed = linksOf({ ...page, text: sectionOf(page, 'Decisions') }).map(({ file }) => fromRoot(file));
    const there = readdirSync(join(ROOT, 'docs/adr')).map((name) => join('docs/adr', name));
    expect(listed.sort()).toEqual(there.sort());
  });

  it('have the number of their file in the title', () => {
    const wrong = readdirSync(join(ROOT, 'docs/adr')).filter(
      (name) => !readPage(`docs/adr/${name}`).text.startsWith(`# ${name.slice(0, 4)}: `),
    );
    expect(wrong).toEqual([]);
  });
});
