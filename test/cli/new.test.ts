/** A project of one's own: what `new` writes, keeps and refuses, and that the commands of its CI pass there. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { FINDING_KINDS } from '../../src/domain/sync/finding-kinds.js';
import { LANGUAGE_FORMATS } from '../../src/mapping/language/language-formats.js';
import { createWholeProgram } from '../../src/cli/program.js';
import { shellScript } from '../../src/cli/completion/shell-script.js';
import { wordsOf } from '../../src/cli/completion/words.js';
import { runInProcess } from './in-process.js';

const RETAIL = fileURLToPath(new URL('../../mappings/online-retail', import.meta.url));
const emptyFolder = (): string => mkdtempSync(join(tmpdir(), 'partner-sync-new-'));

describe('new', () => {
  it('lays out a project whose checks pass without a database or a variable', async () => {
    const folder = emptyFolder();
    expect((await runInProcess(['new', 'shop', '--folder', folder])).code).toBe(0);
    const env = { PARTNER_SYNC_MAPPINGS: join(folder, 'mappings') };
    for (const command of [
      ['check', '--offline'],
      ['mapping', 'test'],
    ])
      expect((await runInProcess(command, env)).stdout).toContain('no sync');

    cpSync(RETAIL, join(folder, 'mappings/online-retail'), { recursive: true });
    const check = await runInProcess(['check', '--offline'], env);
    expect(check.code).toBe(0);
    expect(check.stdout).toContain('the environment variable SOURCE_URL is not set');
    expect(check.stdout).toContain('online-retail: 0 errors, 2 warnings');
    expect((await runInProcess(['mapping', 'test'], env)).code).toBe(0);
  });

  it('keeps what files contain, and adds what they lack', async () => {
    const folder = emptyFolder();
    writeFileSync(
      join(folder, 'package.json'),
      '{\n    "name": "mine",\n    "scripts": { "check": "my check" },\n    "dependencies": { "partner-sync": "^0.1.0" }\n}\n',
    );
    writeFileSync(join(folder, '.gitignore'), '/node_modules\n*.log');
    writeFileSync(join(folder, 'README.md'), 'Mine.\n');
    await runInProcess(['new', 'shop', '--folder', folder]);
    const text = readFileSync(join(folder, 'package.json'), 'utf8');
    expect(text).toContain('\n    "name": "mine"');
    expect(JSON.parse(text)).toMatchObject({ scripts: { check: 'my check', test: 'partner-sync mapping test' } });
    expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toMatch(/^\/node_modules\n\*\.log\n\.env\n/);
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).toBe('Mine.\n');

    const again = await runInProcess(['new', 'shop', '--folder', folder, '--json']);
    const { files } = again.json<{ files: { action: string; added: string[] }[] }>();
    expect(files.every(({ action, added }) => action === 'kept' && added.length === 0)).toBe(true);
  });

  it('writes nothing if something is in the way', async () => {
    const folder = emptyFolder();
    writeFileSync(join(folder, 'mappings'), 'a file');
    const { code, stderr } = await runInProcess(['new', 'shop', '--folder', folder]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('is not a folder; nothing was written')]);
    expect(existsSync(join(folder, 'package.json'))).toBe(false);
  });
});

describe('explain-code', () => {
  it.each([
    ['error source_unreachable: cannot connect', 'The partner'],
    ['ENV_MISSING', 'not set'],
    ['3', 'complete with dead letters'],
    ['429', 'too many requests'],
    ['maxLength: 40', 'longer'],
    ['lagging', 'docs/something-is-wrong.md#lagging'],
  ])('explains %s', async (code, words) => {
    const end = await runInProcess(['explain-code', code]);
    expect(end.code).toBe(0);
    expect(end.stdout).toContain(words);
  });

  it('suggests the nearest code', async () => {
    const { code, stderr } = await runInProcess(['explain-code', 'sorce_unreachable']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('did you mean "source_unreachable"?')]);
  });

  it('knows a kind of finding for each format of the language', () => {
    const kinds = Object.keys(LANGUAGE_FORMATS).map((format) => `bad_${format.replaceAll('-', '_')}`);
    expect(Object.keys(FINDING_KINDS)).toEqual(expect.arrayContaining(kinds));
  });
});

it('--version prints the number alone in the first line, then the parts', async () => {
  const [first, ...parts] = (await runInProcess(['--version'])).stdout.split('\n');
  expect(first).toMatch(/^\d+\.\d+\.\d+$/);
  expect(parts.join('\n')).toMatch(/^Node\.js +\d[^]*^ledger schema +\d{4}-/m);
});

it('completion completes commands, choices, syncs and mappings in bash', async () => {
  const folder = emptyFolder();
  mkdirSync(join(folder, 'mappings'));
  cpSync(RETAIL, join(folder, 'mappings/online-retail'), { recursive: true });
  writeFileSync(join(folder, 'c.bash'), shellScript('bash', wordsOf(await createWholeProgram())));
  const completed = (...words: string[]): string => {
    const script = 'source ./c.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _partner_sync; echo "${COMPREPLY[*]}"';
    return execFileSync('bash', ['-c', script, 'bash', 'partner-sync', ...words], {
      cwd: folder,
      encoding: 'utf8',
    }).trim();
  };
  expect(completed('reco')).toBe('reconcile');
  expect(completed('schema', '')).toBe('push diff');
  expect(completed('run', '')).toBe('online-retail');
  expect(completed('run', 'online-retail', '--mode', '')).toBe('incremental full mirror live');
  expect(completed('explain', 'online-retail', 'cust')).toBe('customers');
});
