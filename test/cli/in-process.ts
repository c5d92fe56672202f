/** Runs the command line in this process: as fast as a function, one command at a time. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { vi } from 'vitest';
import { runCommandLine } from '../../src/cli/run-command-line.js';
import { commandEnd, type CommandEnd } from './command-line.js';

/** Nothing of the developer's own configuration is found from here. */
const EMPTY_FOLDER = mkdtempSync(join(tmpdir(), 'partner-sync-cli-'));

/** A terminal at which somebody types this line. */
const terminalWith = (answer: string): typeof process.stdin => {
  const terminal = Object.assign(new PassThrough(), { isTTY: true });
  terminal.end(`${answer}\n`);
  return terminal as unknown as typeof process.stdin;
};

/**
 * Runs `partner-sync ...args` with these variables and no others of ours; with an `answer`, at a terminal where somebody
 * gives it when asked.
 */
export async function runInProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  answer?: string,
): Promise<CommandEnd> {
  let [stdout, stderr] = ['', ''];
  const take = (stream: NodeJS.WriteStream, keep: (text: string) => void) =>
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      keep(String(text));
      return true;
    });
  const spies = [take(process.stdout, (text) => (stdout += text)), take(process.stderr, (text) => (stderr += text))];
  const stdin =
    answer === undefined ? undefined : vi.spyOn(process, 'stdin', 'get').mockReturnValue(terminalWith(answer));
  const [folder, exitCode] = [process.cwd(), process.exitCode];
  process.chdir(EMPTY_FOLDER);
  for (const name of Object.keys(process.env))
    if (/^(PARTNER_SYNC|PLATFORM|SANDBOX|TEMPORAL)_/.test(name)) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  process.exitCode = undefined;
  try {
    await runCommandLine(args);
    return commandEnd(Number(process.exitCode ?? 0), stdout, stderr);
  } finally {
    process.exitCode = exitCode;
    process.chdir(folder);
    vi.unstubAllEnvs();
    for (const spy of [...spies, stdin]) spy?.mockRestore();
  }
}
