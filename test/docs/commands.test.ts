/** The commands that the pages name are those that exist, with the exit codes that they really have. */
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/command-context.js';
import { createWholeProgram } from '../../src/cli/program.js';
import { PAGES, readPage, sectionOf, tableIn, withoutTicks } from './pages.js';

interface Known {
  /** `schema push` */
  readonly name: string;
  /** `schema push <sync>` */
  readonly usage: string;
  readonly json: boolean;
}

/** Every command that does something; `schema` alone only holds others. */
function commandsOf(parent: Command, before: readonly string[] = []): Known[] {
  return parent.commands.flatMap((command) => {
    const words = [...before, command.name()];
    const args = command.registeredArguments.map((a) => (a.required ? `<${a.name()}>` : `[${a.name()}]`));
    const acts = command.commands.length === 0 || command.options.length > 0;
    const own = {
      name: words.join(' '),
      usage: [...words, ...args].join(' '),
      json: command.options.some((option) => option.long === '--json'),
    };
    return [...(acts ? [own] : []), ...commandsOf(command, words)];
  });
}

const COMMANDS = commandsOf(await createWholeProgram());
/** Those of `platform` are listed on a page of their own. */
const OWN = COMMANDS.filter(({ name }) => !name.startsWith('platform '));
const page = readPage('docs/commands.md');
const documented = tableIn(sectionOf(page, 'Commands'));
const scripts = Object.keys((JSON.parse(readPage('package.json').text) as { scripts: Record<string, string> }).scripts);

/** The text of a page that names commands to type: code, in line and in blocks. */
const codeOf = (text: string): string =>
  [...text.matchAll(/```[\s\S]*?```|`[^`\n]+`/g)].map(([code]) => code).join('\n');

describe('the table of commands', () => {
  it('has every command with its arguments, and none that does not exist', () => {
    expect(documented.map(([usage]) => withoutTicks(usage!)).sort()).toEqual(OWN.map((c) => c.usage).sort());
  });

  it('says which commands can print JSON', () => {
    const yes = documented.filter(([, , json]) => json === 'yes').map(([usage]) => withoutTicks(usage!));
    expect(yes.sort()).toEqual(
      OWN.filter((c) => c.json)
        .map((c) => c.usage)
        .sort(),
    );
  });

  it('gives no command an exit code that does not exist', () => {
    const given = documented.flatMap(([, , , codes]) => codes!.split(', ').map(Number));
    expect(Object.values(EXIT)).toEqual(expect.arrayContaining([...new Set(given)]));
  });
});

describe('the exit codes', () => {
  it('on the page are those of the program', () => {
    const codes = tableIn(sectionOf(page, 'Exit codes')).map(([code]) => Number(code));
    expect(codes).toEqual(Object.values(EXIT).sort((a, b) => a - b));
  });
});

describe.each(PAGES)('$path', ({ text }) => {
  const code = codeOf(text);

  it('names only npm scripts that exist', () => {
    const named = [...code.matchAll(/npm run ([\w:-]+)/g)].map((match) => match[1]!);
    expect(named.filter((name) => !scripts.includes(name))).toEqual([]);
  });

  it('names only commands of partner-sync that exist', () => {
    const named = [...code.matchAll(/(?:npx |`)partner-sync ((?:[a-z][a-z-]* ?)+)/g)].map((match) => match[1]!.trim());
    const unknown = named.filter(
      (words) => !COMMANDS.some(({ name }) => words === name || words.startsWith(`${name} `)),
    );
    expect(unknown).toEqual([]);
  });
});
