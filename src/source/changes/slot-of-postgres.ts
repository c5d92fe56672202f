/** What is said of a slot that is to be read in a database that has none. */
import { PartnerSyncError } from '../../domain/errors.js';

/** The error; `name` is the kind of database. */
export const slotOfPostgres = (name: string): PartnerSyncError =>
  new PartnerSyncError(
    'config_invalid',
    `source: a slot is a change feed of PostgreSQL, and the source is a database of ${name}; name a change table instead`,
  );
