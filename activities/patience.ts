/** How long a record waits that the platform could not take for want of its parent, before it is sent again. */

/** Seconds, by how often it was sent again already: at once, then a minute, two, four, up to an hour. */
export const patience = (tries: number): number => (tries === 0 ? 0 : Math.min(3600, 60 * 2 ** (tries - 1)));

/** So often it is sent; then it is a dead letter, until its parents are delivered (follow-parents.ts). */
export const TRIES = 5;
