/** The PostgreSQL that tests start: that of the installed package, or another version for `npm run test:versions`. */

/** For `startPostgres`. */
export const POSTGRES_PROGRAM: { readonly program?: string } = process.env['TEST_POSTGRES']
  ? { program: process.env['TEST_POSTGRES'] }
  : {};
