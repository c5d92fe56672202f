/** The `temporal` commands of docs/deploy.md for a rolling deployment, run as an operator runs them. */
import { execFile } from 'node:child_process';
import { inject } from 'vitest';
import { findTemporal } from '../../src/embedded/temporal-cli.js';
import { readPage } from '../docs/pages.js';

const { text } = readPage('docs/deploy.md');

/** The version that runs and the one that is to come, on the page. */
export const [OLD, NEW] = /with `(.*)` running and `(.*)` to come/.exec(text)!.slice(1) as [string, string];

/** The commands of the page, in its order. */
export const COMMANDS = [...text.matchAll(/^temporal (?:.*\\\n)*.*$/gm)].map(([command]) =>
  command.replaceAll('\\\n', ''),
);

/**
 * Runs a command, and confirms what it asks. `replace`: what stands on the page only as an example. Rejects with what it
 * wrote if it fails.
 */
export async function temporalCommand(
  command: string,
  replace: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { path } = await findTemporal({ log: () => undefined });
  const [, ...args] = command.split(/\s+/).map((word) => replace[word] ?? word);
  return new Promise((resolve, reject) => {
    const child = execFile(
      path,
      args,
      { env: { HOME: process.env['HOME'], TEMPORAL_ADDRESS: inject('temporalAddress') } },
      (error, stdout, stderr) => (error ? reject(new Error(`${command}: ${stdout}${stderr}`)) : resolve(stdout)),
    );
    child.stdin!.end('y\n');
  });
}
