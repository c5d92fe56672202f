/** Progress of a run: a block of lines redrawn in place on a terminal, plain lines at intervals elsewhere. */
import { formatSeconds } from '../../domain/values/duration.js';
import { progressLine, type MappingProgress } from '../../domain/run/progress.js';
import { milliseconds } from '../../domain/timeouts.js';
import { progressBlock, type Room } from './progress-block.js';

/** Shows what it is given while a run works. */
export interface Display<T> {
  /** Milliseconds between two updates. */
  readonly every: number;
  /** Shows how it is now. */
  readonly show: (progress: T) => void;
  /** Prints a line that stays, above what is redrawn. */
  readonly note: (line: string) => void;
}

/** Shows the counts of a run's mappings; nothing for an empty list. */
export type ProgressDisplay = Display<readonly MappingProgress[]>;

/** A display for `stream`, by default stderr. */
export function createProgress(stream: NodeJS.WriteStream = process.stderr): ProgressDisplay {
  return stream.isTTY ? blockDisplay(stream, progressBlock) : plain(stream);
}

/** Size of a terminal that does not tell its own, or says 0. */
const USUAL = { columns: 80, rows: 24 };

/**
 * Moves the cursor up, erases the block and draws it again. Its lines fit the terminal: one that wraps would make the
 * height wrong, and leave rests of the old block.
 *
 * @param block the lines; if there are none, those drawn before stay
 */
export function blockDisplay<T>(stream: NodeJS.WriteStream, block: (progress: T, room: Room) => string[]): Display<T> {
  let drawn: readonly string[] = [];
  const draw = (above: string, lines: readonly string[]): void => {
    const erase = drawn.length > 0 ? `\u001b[${drawn.length}A\u001b[J` : '';
    stream.write(`${erase}${above}${lines.map((line) => `${line}\n`).join('')}`);
    drawn = lines;
  };
  return {
    every: milliseconds('progressOnTerminal'),
    show(progress) {
      const lines = block(progress, { columns: stream.columns || USUAL.columns, rows: stream.rows || USUAL.rows });
      if (lines.length > 0) draw('', lines);
    },
    note: (line) => draw(`${line}\n`, drawn),
  };
}

/** For logs and files: a line for each mapping, the last one when it is done. */
function plain(stream: NodeJS.WriteStream): ProgressDisplay {
  const finished = new Set<string>();
  return {
    every: milliseconds('progressInLog'),
    show(mappings) {
      for (const m of mappings) {
        if (finished.has(m.mapping)) continue;
        if (m.done) finished.add(m.mapping);
        stream.write(`  ${m.mapping}: ${progressLine(m, `done in ${formatSeconds(m.seconds)}`)}\n`);
      }
    },
    note: (line) => stream.write(`${line}\n`),
  };
}
