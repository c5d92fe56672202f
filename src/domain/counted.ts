/** Counts in messages, in the singular or plural. In one place, so that no message says `1 records`. */

/**
 * `counted(1, 'record')` is `1 record`, `counted(2, 'record')` is `2 records`. An irregular noun, or one with a verb, needs
 * both forms: `counted(2, 'record waits', 'records wait')` is `2 records wait`.
 */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
