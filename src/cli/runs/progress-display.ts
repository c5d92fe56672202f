/** Progress of a run: a block of lines redrawn in place on a terminal, plain lines at intervals elsewhere. */
import { formatSeconds } from '../../domain/values/duration.js';
import { progressLine, type MappingProgress } from '../../domain/run/progress.js';
import { milliseconds } from '../../domain/timeouts.js';
import { progressBlock } from './progress-block.js';

/** Shows the counts of a run's mappings while it works. */
export interface ProgressDisplay {
  /** Milliseconds between two updates. */
  readonly every: number;
  /** Shows the counts as they are now; nothing for an empty list. */
  readonly show: (mappings: readonly MappingProgress[]) => void;
  /** Prints a line that stays, above what is redrawn. */
  readonly note: (line: string) => void;
}

/** A display for `stream`, by default stderr. */
export function createProgress(stream: NodeJS.WriteStream = process.stderr): ProgressDisplay {
  return stream.isTTY ? redrawn(stream) : plain(stream);
}

/** Size of a terminal that does not tell its own, or says 0. */
const USUAL = { columns: 80, rows: 24 };

/**
 * Moves the cursor up, erases the block and draws it again. Its lines fit the terminal: one that wraps would make the
 * height wrong, and leave rests of the old block.
 */
function redrawn(stream: NodeJS.WriteStream): ProgressDisplay {
  let drawn: readonly string[] = [];
  const draw = (above: string, lines: readonly string[]): void => {
    const erase = drawn.length > 0 ? `\u001b[${drawn.length}A\u001b[J` : '';
    stream.write(`${erase}${above}${lines.map((line) => `${line}\n`).join('')}`);
    drawn = lines;
  };
  return {
    every: milliseconds('progressOnTerminal'),
    show(mappings) {
      const room = { columns: stream.columns || USUAL.columns, rows: stream.rows || USUAL.rows };
      if (mappings.length > 0) draw('', progressBlock(mappings, room));
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
