/** Which values are text that every database can hold. */

/** Whether it is text: not empty, no NUL, no half character. */
export const isText = (v: unknown): boolean =>
  typeof v === 'string' && v !== '' && !v.includes('\0') && v.isWellFormed();
