/** Figures as people read them, the same everywhere: `1,234`, `56 rows/s`, `2026-11-26 00:30:05 UTC`. */
import { formatCount } from '../domain/values/quantity.js';

export { formatCount as count };

/** For axes: `1.2K`, `3M`. */
export const compact = (n: number): string => n.toLocaleString('en-GB', { notation: 'compact' });

/** Rows in a second, with as many digits as say something. */
export const perSecond = (rate: number): string =>
  `${rate >= 10 ? formatCount(Math.round(rate)) : rate.toFixed(1)} rows/s`;

/** The rate of so many rows in so many seconds; a dash for a time too short to measure. */
export const rateText = (rows: number, seconds: number): string => (seconds < 0.5 ? '–' : perSecond(rows / seconds));

export const milliseconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

export const timeText = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;

export const dayOf = (date: Date): string => date.toISOString().slice(0, 10);
