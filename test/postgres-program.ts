/** The PostgreSQL that tests start: that of the installed package, or another version for `npm run test:versions`. */

/** For `startPostgres`. */
export const POSTGRES_PROGRAM: { readonly program?: string } = process.env['TEST_POSTGRES']
  ? { program: process.env['TEST_POSTGRES'] }
  : {};

/** The same for servers of a source alone: with `TEST_SOURCE_POSTGRES`, those of ledger and sandbox stay as they are. */
export const SOURCE_PROGRAM: { readonly program?: string } = process.env['TEST_SOURCE_POSTGRES']
  ? { program: process.env['TEST_SOURCE_POSTGRES'] }
  : POSTGRES_PROGRAM;
