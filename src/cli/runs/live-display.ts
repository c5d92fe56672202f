/** Progress of a run in mode `live`, which has no end to come closer to. */
import { countsOf, progressLine, type MappingProgress } from '../../domain/run/progress.js';
import {
  deliveryCells,
  holdLines,
  lagOf,
  pausedLines,
  stageLines,
  stagesOf,
  type LiveMapping,
  type LiveProgress,
} from '../../domain/monitoring/live-progress.js';
import { milliseconds } from '../../domain/timeouts.js';
import { printable } from '../output/text-table.js';
import { breakLines } from '../output/break-lines.js';
import { mappingBlock, progressBlock, progressRow, type BlockRow, type Room } from './progress-block.js';
import { blockDisplay, type Display } from './progress-display.js';

/** The run, or the counts of its mappings once it has ended. */
type Shown = LiveProgress | readonly MappingProgress[];

/**
 * A display for `stream`, by default stderr.
 *
 * @param clock the time in milliseconds
 */
export const createLiveDisplay = (
  stream: NodeJS.WriteStream = process.stderr,
  clock: () => number = () => performance.now(),
): Display<Shown> =>
  stream.isTTY
    ? blockDisplay(stream, (shown, room) => (hasEnded(shown) ? progressBlock(shown, room) : liveBlock(shown, room)))
    : logged(stream, clock);

const hasEnded = (shown: Shown): shown is readonly MappingProgress[] => Array.isArray(shown);

/** What the run does, a line for each mapping, what it waits for, and how to leave. */
function liveBlock(live: LiveProgress, { columns, rows }: Room): string[] {
  const fitted = (lines: readonly string[]): string[] =>
    lines.flatMap((line) => breakLines(printable(line), Math.max(40, columns - 1)));
  const above = fitted([...pausedLines(live), ...stageLines(live)]);
  const below = fitted([...holdLines(live), `Ctrl-C leaves it running; partner-sync stop ${live.sync} ends it`]);
  const mappings = live.mappings.map((mapping) => rowOf(mapping, live.now));
  return [...above, ...mappingBlock(mappings, { columns, rows: rows - above.length - below.length }), ...below];
}

function rowOf({ progress, delivery }: LiveMapping, now: Date): BlockRow {
  if (delivery?.loaded !== true) return progressRow(progress);
  // A row that changes ten times is read ten times: that says little.
  const counts = countsOf({ ...progress, read: 0, waiting: delivery.waiting });
  return {
    mapping: progress.mapping,
    cells: deliveryCells(delivery, now),
    counts,
    isDone: delivery.changedRows === 0 && delivery.waiting === 0,
  };
}

/**
 * For logs and files: lines when the run begins to do something else, such as to wait for an approval. Beside that, one each
 * minute, unless nothing but its age has changed.
 */
function logged(stream: NodeJS.WriteStream, clock: () => number): Display<Shown> {
  const say = (lines: readonly string[]): void => lines.forEach((line) => void stream.write(`  ${printable(line)}\n`));
  let [saidAt, state, standing] = [-Infinity, '', ''];
  return {
    every: milliseconds('progressInLog'),
    show(live) {
      // The report has the counts.
      if (hasEnded(live)) return;
      const { loading } = stagesOf(live);
      const lines = [
        ...loading.map((m) => `${m.mapping}: ${progressLine(m, 'all rows read')}`),
        stageLines(live).join('; '),
      ];
      const [newState, newStanding] = [stateOf(live), standingOf(live)];
      const isOther = newState !== state;
      if (!isOther && (newStanding === standing || clock() - saidAt < milliseconds('liveInLog'))) return;
      say([...(isOther ? [...pausedLines(live), ...holdLines(live)] : []), ...lines]);
      [saidAt, state, standing] = [clock(), newState, newStanding];
    },
    note: (line) => stream.write(`${line}\n`),
  };
}

/** What is told at once if it changes. */
function stateOf(live: LiveProgress): string {
  const { loading, followed } = stagesOf(live);
  const namesOf = (mappings: readonly { readonly mapping: string }[]): string[] => mappings.map((m) => m.mapping);
  return JSON.stringify([
    live.pause,
    live.holds.map(({ mapping, cause }) => [mapping, cause]),
    namesOf(loading),
    namesOf(followed.map(({ progress }) => progress)),
  ]);
}

/** What is told after a while if it has changed: how late it is only once that is long, for it always differs a little. */
function standingOf(live: LiveProgress): string {
  const { loading, followed } = stagesOf(live);
  const lag = lagOf(live) ?? 0;
  return JSON.stringify([
    loading.map(({ read }) => read),
    followed.map(({ delivery }) => [delivery.changedRows, delivery.waiting]),
    live.changesPerSecond,
    lag * 1000 > milliseconds('liveInLog') ? lag : null,
  ]);
}
