/** The zone that a database's columns without one are taken to be in. */
import type { SourceServer } from '../domain/source-catalog.js';
import { isTimeZone } from '../domain/time-zone.js';
import type { ZoneGuess } from './draft.js';

/** The server stamps in its own zone; the application may do otherwise. */
export function guessZone({ timeZone, product }: SourceServer): ZoneGuess {
  if (timeZone === null) return { name: 'UTC', why: `is what ${product} stamps, and a guess` };
  return isTimeZone(timeZone)
    ? { name: timeZone, why: "is the server's, and a guess" }
    : { name: 'UTC', why: `is a guess (the server's is ${timeZone})` };
}
