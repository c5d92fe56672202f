/** How the runs of a sync have ended on each of the last days: a bar for each day, as high as its worst outcome is bad. */
import type { SyncDay } from '../../domain/run/run-history.js';

/** Days that are shown. */
export const DAYS = 30;

const WIDTH = 4;
const HEIGHT = 18;

/** The worst outcome of a day decides; heights tell it to those who do not see colours. */
const TONES = [
  { tone: 'bad', height: HEIGHT, of: ({ runs }: SyncDay) => runs.failed },
  { tone: 'warning', height: 12, of: ({ runs }: SyncDay) => runs.incomplete + runs.complete_with_dead_letters },
  { tone: 'good', height: 6, of: ({ runs }: SyncDay) => runs.complete },
] as const;

export interface MonthProps {
  /** Days on which a run has ended, in their order. */
  readonly days: readonly SyncDay[];
  /** `2026-11-26`, in UTC. */
  readonly today: string;
}

export function Month({ days, today }: MonthProps) {
  const worst = days.map((day) => TONES.find(({ of }) => of(day) > 0));
  const place = (day: string): number =>
    (DAYS - 1 - (Date.parse(today) - Date.parse(day)) / 86_400_000) * WIDTH + WIDTH / 2;
  const said = TONES.map(({ tone }) => worst.filter((each) => each?.tone === tone).length);
  const label = `Of the last ${DAYS} days, ${said[0]} with a failed run, ${said[1]} with rows that were not delivered, ${said[2]} well, ${DAYS - days.length} without a run`;
  return (
    <svg class="month" role="img" aria-label={label} viewBox={`0 0 ${DAYS * WIDTH} ${HEIGHT}`}>
      {TONES.map(({ tone, height }) => {
        const bars = days.flatMap(({ day }, i) =>
          worst[i]?.tone === tone ? [`M${place(day)} ${HEIGHT}v-${height}`] : [],
        );
        return bars.length === 0 ? null : <path key={tone} class={tone} d={bars.join('')} />;
      })}
    </svg>
  );
}
