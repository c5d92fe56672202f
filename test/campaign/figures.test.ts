/** The figures of a campaign: how soon work went on, and what a soak has used. */
import { expect, it } from 'vitest';

interface Sample {
  readonly minute: number;
  readonly usedMiB: readonly number[];
  readonly rssMiB: readonly number[];
  readonly files: readonly number[];
  readonly ledgerMiB: number;
  readonly recordsMiB: number;
  readonly recordTextsMiB: number;
  readonly secondsBehind: number;
  readonly batches: number;
  readonly openBatches: number;
  readonly changed: number;
}

interface Figures {
  readonly percentiles: (seconds: readonly number[]) => object | null;
  readonly judgementsOf: (
    samples: readonly Sample[],
    rate: number,
  ) => Record<string, { held: boolean; figure: string }>;
}

const script = async (name: string): Promise<Figures> =>
  (await import(new URL(`../../scripts/campaign/${name}.mjs`, import.meta.url).href)) as Figures;
const { percentiles } = await script('progress');
const { judgementsOf } = await script('soak');

it('says for how many of a hundred kills work went on how soon', () => {
  const seconds = Array.from({ length: 100 }, (_, i) => 100 - i);

  expect(percentiles(seconds)).toEqual({ kills: 100, p50: 50, p95: 95, max: 100 });
  expect(percentiles([])).toBeNull();
});

/** Two workers that are sampled for an hour; `grows` is what is added each minute. */
const hour = (
  grows: Partial<Record<'used' | 'rss' | 'changed' | 'files' | 'ledger' | 'room' | 'behind' | 'open', number>>,
): Sample[] =>
  Array.from({ length: 61 }, (_, minute) => ({
    minute,
    // Everything grows while a worker warms up.
    usedMiB: [60, 61 + Math.min(minute, 10) * 2 + minute * (grows.used ?? 0)],
    // Up and down, as garbage is collected now and then.
    rssMiB: [300, 310 + Math.min(minute, 10) * 20 + ((minute * 37) % 11) * 8 + minute * (grows.rss ?? 0)],
    files: [40, 41 + minute * (grows.files ?? 0)],
    // It comes to know more records all the time.
    ledgerMiB: 100 + minute * (1.2 + (grows.ledger ?? 0) + (grows.room ?? 0)),
    recordsMiB: 80 + minute * (1 + (grows.room ?? 0)),
    recordTextsMiB: 50 + minute * 0.6,
    secondsBehind: 2 + minute * (grows.behind ?? 0),
    batches: minute * 100,
    openBatches: 8 + minute * (grows.open ?? 0),
    changed: minute * (60_000 + (grows.changed ?? 0)),
  }));

const notHeld = (samples: readonly Sample[]): string[] =>
  Object.entries(judgementsOf(samples, 1000)).flatMap(([what, { held }]) => (held ? [] : [what]));

it('holds against a soak only what goes on after its first quarter of an hour', () => {
  expect(notHeld(hour({}))).toEqual([]);
});

it.each([
  [{ changed: -6000 }, 'the source changes as fast as was asked for'],
  [{ used: 0.1 }, 'the memory in use of a worker grows by less than 1 MiB an hour'],
  [{ rss: 1 }, 'the resident memory of a worker grows by less than 1 MiB an hour'],
  [{ files: 1 }, 'the number of open files grows by less than 1 an hour'],
  [{ ledger: 1 }, 'the ledger without its records grows by less than 4 KiB for each closed batch'],
  [{ room: 3 }, 'what the ledger knows of records takes less than three times their length'],
  [{ behind: 1 }, 'the platform is less than a minute behind'],
  [{ open: 10 }, 'fewer than 200 batches are open at once'],
])('notices growth of %o', (grows, what) => {
  expect(notHeld(hour(grows))).toEqual([what]);
});
