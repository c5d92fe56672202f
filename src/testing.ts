/** What unit tests of mappings import: it loads no driver and nothing of Temporal. */
export { PartnerSyncError } from './domain/errors.js';
export { mapRow, type MappedTestRow, type RejectedTestRow, type TestRow, type TestValue } from './embedding/map-row.js';
export { openSync, type OpenSyncOptions, type TestColumns, type TestSync } from './embedding/open-sync.js';
