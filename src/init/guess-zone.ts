/** Guesses the time zone of a database's columns that store none. */
import type { SourceServer } from '../domain/source/source-catalog.js';
import { isTimeZone } from '../domain/values/time-zone.js';
import type { ZoneGuess } from './draft.js';

/**
 * The server's time zone if it is known and valid, otherwise UTC. Applications may use another, so a person must
 * confirm it.
 */
export function guessZone({ timeZone, product }: SourceServer): ZoneGuess {
  if (timeZone === null) return { name: 'UTC', why: `is what ${product} itself writes, and a guess` };
  return isTimeZone(timeZone)
    ? { name: timeZone, why: "is the server's, and a guess" }
    : { name: 'UTC', why: `is a guess (the server's is ${timeZone})` };
}
