/**
 * The table of timeouts and retries: every timeout, delay, poll interval, age and number of attempts in the product,
 * with the reason for its value. docs/reference.md shows it, and a test compares the two.
 */
import { ACTIVITIES } from './timeouts/activities.js';
import { ALERTS } from './timeouts/alerts.js';
import { COMMANDS } from './timeouts/commands.js';
import { DATABASES } from './timeouts/databases.js';
import { DELIVERY } from './timeouts/delivery.js';
import { UNITS, type CountEntry, type DurationEntry, type TimeoutEntry } from './timeouts/entry.js';
import { LIVE } from './timeouts/live.js';
import { PLATFORM } from './timeouts/platform.js';
import { RETENTION } from './timeouts/retention.js';
import { SANDBOX } from './timeouts/sandbox.js';
import { STACK } from './timeouts/stack.js';

/** The table in parts, by their headings in docs/reference.md. */
export const TIMEOUT_SECTIONS = {
  'Runs and workers': ACTIVITIES,
  'Runs in mode live': LIVE,
  'Records on their way': DELIVERY,
  'Requests to the platform': PLATFORM,
  'Source and ledger': DATABASES,
  Retention: RETENTION,
  Alerts: ALERTS,
  Commands: COMMANDS,
  'The sandbox': SANDBOX,
  'The stack on your own machine': STACK,
} as const satisfies Readonly<Record<string, Readonly<Record<string, TimeoutEntry>>>>;

const TIMEOUTS = {
  ...ACTIVITIES,
  ...LIVE,
  ...DELIVERY,
  ...PLATFORM,
  ...DATABASES,
  ...RETENTION,
  ...ALERTS,
  ...COMMANDS,
  ...SANDBOX,
  ...STACK,
} as const;

type Named<Entry> = {
  [Name in keyof typeof TIMEOUTS]: (typeof TIMEOUTS)[Name] extends Entry ? Name : never;
}[keyof typeof TIMEOUTS];

/** Names of the entries that are lengths of time. */
export type DurationName = Named<DurationEntry>;
/** Names of the entries that are numbers of attempts, or factors. */
export type CountName = Named<CountEntry>;

/** An entry in milliseconds. */
export function milliseconds(name: DurationName): number {
  const { value, unit }: DurationEntry = TIMEOUTS[name];
  return value * UNITS[unit];
}

/** An entry in seconds. */
export const seconds = (name: DurationName): number => milliseconds(name) / 1000;

/** An entry as people write it in a file of a sync: `10m`. Files know no milliseconds. */
export function durationText(name: DurationName): string {
  const { value, unit }: DurationEntry = TIMEOUTS[name];
  return unit === 'ms' ? `${value / 1000}s` : `${value}${unit === 'min' ? 'm' : unit}`;
}

/** An entry that is a number of attempts, or a factor. */
export const times = (name: CountName): number => TIMEOUTS[name].value;
