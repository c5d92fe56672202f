/** Help, wrong usage and missing configuration: what people see first. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Command } from 'commander';
import { beforeAll, describe, expect, it } from 'vitest';
import { createWholeProgram } from '../../src/cli/program.js';
import { build } from '../pipeline/worker-process.js';
import { partnerSync } from './command-line.js';
import { runInProcess } from './in-process.js';

beforeAll(build);

function pathsOf(command: Command, path: readonly string[] = []): string[][] {
  return [[...path], ...command.commands.flatMap((sub) => pathsOf(sub, [...path, sub.name()]))];
}

const program = await createWholeProgram();

describe('--help', () => {
  for (const path of pathsOf(program))
    it(`explains partner-sync ${path.join(' ')}`, async () => {
      const { code, stdout, stderr } = await runInProcess([...path, '--help']);
      expect(code).toBe(0);
      expect(stdout).toContain('Usage: partner-sync');
      expect(stderr).toBe('');
    });

  it('is printed for the bare command too, and lists the exit codes', async () => {
    const { code, stdout, stderr } = await partnerSync([]);
    expect(code).toBe(0);
    expect(stderr).toBe('');
    expect(stdout).toMatch(/Exit codes: 0 .*1 .*2 .*\n?.*3 .*130/s);
  });
});

it.each([
  [['status', '--json', '--limt', '3'], "unknown option '--limt'"],
  [['run', '--json'], "missing required argument 'sync'"],
  [['dead-letters', '--json'], 'unknown option'],
  [['dead-letters', 'list', 'shop', '--limit', 'x', '--json'], 'Allowed'],
])('reports wrong usage as JSON too: %j', async (args, says) => {
  const { code, json } = await runInProcess(args);
  expect(code).toBe(2);
  expect(json()).toMatchObject({ error: { code: 'input_invalid', message: expect.stringContaining(says) as string } });
});

it('ends quietly when nobody reads its output any more', async () => {
  const child = spawn(process.execPath, ['dist/src/cli/main.js', 'explain-code', 'config_invalid'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.destroy();
  let stderr = '';
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
  const [code] = (await once(child, 'close')) as [number];
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

describe('wrong usage exits with 2 and says what was probably meant', () => {
  const wrong: readonly (readonly [readonly string[], ...string[]])[] = [
    [['chek', 'shop'], 'unknown command', 'check'],
    [['run', 'shop', '--jsn'], 'unknown option', '--json'],
    [['run', 'shop', '--mode', 'ful'], 'Allowed: incremental, full', 'Did you mean full?'],
    [['run'], "missing required argument 'sync'"],
    [['check', 'shop', 'extra'], 'too many arguments'],
    [['reconcile', 'shop', '--read-back', 'some'], 'Allowed: all, or a number'],
    [['sandbox', '--port', '99999'], 'Allowed: 0 to 65535'],
  ];
  for (const [args, ...words] of wrong)
    it(args.join(' '), async () => {
      const { code, stdout, stderr } = await runInProcess(args);
      expect(code).toBe(2);
      expect(stdout).toBe('');
      for (const word of words) expect(stderr).toContain(word);
    });
});

describe('missing configuration exits with 2 and names the variable', () => {
  const missing: readonly (readonly [readonly string[], Record<string, string>, string])[] = [
    [['status'], {}, 'PARTNER_SYNC_STATE_URL or PARTNER_SYNC_STATE_URL_FILE is not set'],
    [['status'], { PARTNER_SYNC_STATE_URL_FILE: '/no/such/file' }, 'PARTNER_SYNC_STATE_URL_FILE names /no/such/file'],
    [['sandbox', 'token'], {}, 'SANDBOX_JWT_SECRET'],
    [['check', 'shop'], { PARTNER_SYNC_MAPPINGS: '/no/such/folder' }, 'shop'],
  ];
  for (const [args, env, words] of missing)
    it(`${args.join(' ')} with ${Object.keys(env).join(', ') || 'nothing'}`, async () => {
      const { code, stdout, stderr } = await runInProcess(args, env);
      expect(stdout + stderr).toContain(words);
      expect(code).toBe(args[0] === 'check' ? 1 : 2);
    });
});
