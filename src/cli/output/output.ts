/**
 * A command's output: its result goes to stdout, progress and notes go to stderr. With --json the result is one
 * document.
 */

import { printableJson } from './text-table.js';

/** Where a command writes. A command prints one result, and any number of notes. */
export interface Output {
  readonly json: boolean;
  /**
   * Prints the result: with --json the document, to which `version` is added, otherwise the lines, which are only made
   * then.
   */
  result(document: object, lines: () => readonly string[]): void;
  /** Prints a line for people to stderr. */
  note(line: string): void;
}

/** An output that prints JSON or plain lines. */
export function createOutput(json: boolean): Output {
  return {
    json,
    result(document, lines) {
      process.stdout.write(
        json
          ? `${printableJson(JSON.stringify({ version: 1, ...document }))}\n`
          : lines()
              .map((l) => `${l}\n`)
              .join(''),
      );
    },
    note: (line) => process.stderr.write(`${line}\n`),
  };
}
