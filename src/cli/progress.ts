/** Progress of a run: one block that is redrawn on a terminal, a plain line now and then elsewhere. */
import { formatSeconds } from '../domain/duration.js';
import { rateOf, type MappingProgress } from '../domain/run.js';
import { table } from './table.js';

export interface ProgressDisplay {
  /** Milliseconds after which it is worth showing the next state. */
  readonly every: number;
  show(mappings: readonly MappingProgress[]): void;
}

export function createProgress(stream: NodeJS.WriteStream = process.stderr): ProgressDisplay {
  return stream.isTTY ? redrawn(stream) : plain(stream);
}

function blockOf(mappings: readonly MappingProgress[]): string[] {
  return table(
    ['mapping', 'read', 'on the way', 'unchanged', 'accepted', 'waiting', 'dead', 'rows/s', ''],
    mappings.map((m) => [
      m.mapping,
      m.read,
      m.sent,
      m.unchanged,
      m.accepted,
      m.waiting,
      m.deadLettered,
      rateOf(m) ?? '-',
      m.done ? 'done' : 'reading',
    ]),
  );
}

function redrawn(stream: NodeJS.WriteStream): ProgressDisplay {
  let height = 0;
  return {
    every: 1_000,
    show(mappings) {
      if (mappings.length === 0) return;
      const lines = blockOf(mappings).map((line) => line.slice(0, Math.max(20, stream.columns - 1)));
      stream.write(`${height > 0 ? `\u001b[${height}A` : ''}${lines.map((line) => `\u001b[2K  ${line}\n`).join('')}`);
      height = lines.length;
    },
  };
}

function plain(stream: NodeJS.WriteStream): ProgressDisplay {
  const finished = new Set<string>();
  const line = (m: MappingProgress): void => {
    const rate = rateOf(m);
    stream.write(
      `  ${m.mapping}: read ${m.read}, on the way ${m.sent}, unchanged ${m.unchanged}, accepted ${m.accepted}, waiting ${m.waiting}, dead-lettered ${m.deadLettered}` +
        `${rate === undefined ? '' : `, ${rate} rows/s`}${m.done ? `, done in ${formatSeconds(m.seconds)}` : ''}\n`,
    );
  };
  return {
    every: 5_000,
    show(mappings) {
      for (const m of mappings) {
        if (finished.has(m.mapping)) continue;
        if (m.done) finished.add(m.mapping);
        line(m);
      }
    },
  };
}
