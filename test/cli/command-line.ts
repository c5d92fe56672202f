/**
 * The built command line, as an operator calls it. Starting it takes half a second of processor time: tests that are about
 * what a command says and does rather than about its process use in-process.ts.
 */
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { CLI } from '../pipeline/worker-process.js';

export interface CommandEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** stdout as the one JSON document that it must be. */
  readonly json: <T = Record<string, unknown>>() => T;
}

/** What the command line wrote, and the exit code. */
export const commandEnd = (code: number, stdout: string, stderr: string): CommandEnd => ({
  code,
  stdout,
  stderr,
  json: <T>() => {
    if (stdout.trimEnd().includes('\n')) throw new Error(`more than one document: ${stdout}`);
    return JSON.parse(stdout) as T;
  },
});

/** Runs `partner-sync ...args` with exactly this environment, in a folder without any configuration. */
export function partnerSync(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cli = CLI,
): Promise<CommandEnd> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [cli, ...args],
      { cwd: tmpdir(), env: { PATH: process.env['PATH'] ?? '', ...env } },
      (error, stdout, stderr) =>
        resolve(commandEnd(error === null ? 0 : typeof error.code === 'number' ? error.code : -1, stdout, stderr)),
    );
  });
}
