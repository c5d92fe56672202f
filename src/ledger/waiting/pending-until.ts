/**
 * Until when a record may be pending: after that it is sent again even if the platform still lists it. These are
 * expressions in SQL, since the ledger's clock decides.
 */
import { seconds, type DurationName } from '../../domain/timeouts.js';

/** An entry of the table of timeouts, in SQL. */
const interval = (name: DurationName): string => `interval '${seconds(name)} seconds'`;

/**
 * @param expiresAt when the platform says that it drops the record; NULL if it has not said
 * @param dependencyWait the seconds for which it was asked to wait. If `expiresAt` is later, that counts. If it is
 *   earlier, the platform's clock or its spelling of times may differ from ours; it no longer lists
 *   a record that it has dropped anyway.
 */
export const pendingUntil = (expiresAt: string, dependencyWait: string): string =>
  `least(greatest(${expiresAt}, now() + ${dependencyWait} * interval '1 second'), now() + ${interval('longestPending')})
     + ${interval('clocksApart')}`;

/** The platform's time, or NULL if it is implausible: very distant dates often stand for "never". */
export const plausibleExpiry = (expiresAt: string): string =>
  `CASE WHEN ${expiresAt} BETWEEN now() - ${interval('expiryNamedBefore')} AND now() + ${interval('expiryNamedAhead')} THEN ${expiresAt} END`;
