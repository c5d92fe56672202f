/** Durations and sizes as people write them: `45s`, `10m`, `6h`, `1d`; `4MiB`. */
import { seconds, type DurationName } from '../timeouts.js';

const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;
const BYTES = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;

/** Pattern of a duration, for JSON Schemas. */
export const DURATION_PATTERN = '^[0-9]+(\\.[0-9]+)?(s|m|h|d)$';
/** Pattern of a size, for JSON Schemas. */
export const SIZE_PATTERN = '^[0-9]+(B|KiB|MiB|GiB)$';

/** Seconds of a duration that matches {@link DURATION_PATTERN}, to the millisecond. */
export function durationSeconds(text: string): number {
  const unit = text.slice(-1) as keyof typeof SECONDS;
  // 1.1 minutes would otherwise be 66.00000000000001 seconds.
  return Math.round(Number(text.slice(0, -1)) * SECONDS[unit] * 1000) / 1000;
}

/** Seconds of a duration in a file, or of the entry that is its default. */
export const secondsOr = (text: string | undefined, otherwise: DurationName): number =>
  text === undefined ? seconds(otherwise) : durationSeconds(text);

/**
 * What is wrong with a duration, or undefined. Bounds are inclusive, and are themselves due to timers: those of Node
 * end at 24.8 days, PostgreSQL's statement timeout too, and an activity has half an hour.
 */
export function durationProblem(text: string, least: string, longest: string): string | undefined {
  if (!new RegExp(DURATION_PATTERN).test(text)) return 'must be a duration with its unit, such as 30s, 10m, 6h or 1d';
  const seconds = durationSeconds(text);
  return seconds < durationSeconds(least) || seconds > durationSeconds(longest)
    ? `must be between ${least} and ${longest}`
    : undefined;
}

/** Bytes of a size that matches {@link SIZE_PATTERN}. */
export function sizeBytes(text: string): number {
  const [, amount, unit] = /^([0-9]+)([A-Za-z]+)$/.exec(text) ?? [];
  return Number(amount) * BYTES[unit as keyof typeof BYTES];
}

/** `83` seconds as `1m 23s`, for people. */
export function formatSeconds(seconds: number): string {
  // 9.96 would otherwise be written as 10.0s.
  if (seconds < 9.95) return `${seconds.toFixed(1)}s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole}s`;
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes}m ${whole % 60}s` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}
