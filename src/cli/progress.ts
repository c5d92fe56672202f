/** Progress of a run: one block that is redrawn on a terminal, a plain line now and then elsewhere. */
import { formatSeconds } from '../domain/duration.js';
import type { MappingProgress } from '../domain/run.js';
import { table } from './table.js';

export interface ProgressDisplay {
  /** Milliseconds after which it is worth showing the next state. */
  readonly every: number;
  show(mappings: readonly MappingProgress[]): void;
}

export function createProgress(stream: NodeJS.WriteStream = process.stderr): ProgressDisplay {
  return stream.isTTY ? redrawn(stream) : plain(stream);
}

const rate = (m: MappingProgress): number => (m.seconds > 0.5 ? Math.round(m.read / m.seconds) : 0);

function blockOf(mappings: readonly MappingProgress[]): string[] {
  return table(
    ['mapping', 'read', 'sent', 'unchanged', 'accepted', 'waiting', 'dead', 'rows/s', ''],
    mappings.map((m) => [
      m.mapping,
      m.read,
      m.sent,
      m.unchanged,
      m.accepted,
      m.waiting,
      m.deadLettered,
      rate(m),
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
    stream.write(
      `  ${m.mapping}: read ${m.read}, sent ${m.sent}, unchanged ${m.unchanged}, accepted ${m.accepted}, waiting ${m.waiting}, dead-lettered ${m.deadLettered}` +
        `, ${rate(m)} rows/s${m.done ? `, done in ${formatSeconds(m.seconds)}` : ''}\n`,
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
