/** Where a login leads. */

/** A path of this console; the overview for anything else, since a link to the login may come from anywhere. */
export const nextPage = (next: unknown): string =>
  typeof next === 'string' && /^\/(?![/\\])[^\s\\]*$/.test(next) && !next.startsWith('/login') ? next : '/';
