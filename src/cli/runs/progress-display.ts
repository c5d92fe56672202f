/** Progress of a run: a table redrawn in place on a terminal, plain lines at intervals elsewhere. */
import { formatSeconds } from '../../domain/values/duration.js';
import { rateOf, stateOf, type MappingProgress } from '../../domain/run/progress.js';
import { table } from '../output/text-table.js';
import { milliseconds } from '../../domain/timeouts.js';

/** Shows the counts of a run's mappings while it works. */
export interface ProgressDisplay {
  /** Milliseconds between two updates. */
  readonly every: number;
  /** Shows the counts as they are now; nothing for an empty list. */
  show(mappings: readonly MappingProgress[]): void;
}

/** A display for `stream`, by default stderr. */
export function createProgress(stream: NodeJS.WriteStream = process.stderr): ProgressDisplay {
  return stream.isTTY ? redrawn(stream) : plain(stream);
}

function blockOf(mappings: readonly MappingProgress[]): string[] {
  return table(
    ['mapping', 'read', 'in flight', 'unchanged', 'accepted', 'waiting', 'dead', 'rows/s', ''],
    mappings.map((m) => [
      m.mapping,
      m.read,
      m.inFlight,
      m.unchanged,
      m.accepted,
      m.waiting,
      m.deadLettered,
      rateOf(m) ?? '-',
      stateOf(m, 'done'),
    ]),
  );
}

/**
 * Moves the cursor up and draws over the table. Lines are cut at the terminal's width: one that wraps would make the
 * height wrong, and leave rests of the old table.
 */
function redrawn(stream: NodeJS.WriteStream): ProgressDisplay {
  let height = 0;
  return {
    every: milliseconds('progressOnTerminal'),
    show(mappings) {
      if (mappings.length === 0) return;
      const lines = blockOf(mappings).map((line) => line.slice(0, Math.max(20, stream.columns - 1)));
      stream.write(`${height > 0 ? `\u001b[${height}A` : ''}${lines.map((line) => `\u001b[2K  ${line}\n`).join('')}`);
      height = lines.length;
    },
  };
}

/** For logs and files: a line for each mapping, the last one when it is done. */
function plain(stream: NodeJS.WriteStream): ProgressDisplay {
  const finished = new Set<string>();
  const line = (m: MappingProgress): void => {
    const rate = rateOf(m);
    stream.write(
      `  ${m.mapping}: read ${m.read}, in flight ${m.inFlight}, unchanged ${m.unchanged}, accepted ${m.accepted}, waiting ${m.waiting}, dead-lettered ${m.deadLettered}` +
        `${rate === undefined ? '' : `, ${rate} rows/s`}${m.done ? `, done in ${formatSeconds(m.seconds)}` : `, ${stateOf(m, 'done')}`}\n`,
    );
  };
  return {
    every: milliseconds('progressInLog'),
    show(mappings) {
      for (const m of mappings) {
        if (finished.has(m.mapping)) continue;
        if (m.done) finished.add(m.mapping);
        line(m);
      }
    },
  };
}
