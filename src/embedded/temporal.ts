/** The embedded Temporal: the program is found first, then started as a dev server. */
export { findTemporal, type FindTemporalInput, type TemporalCli } from './temporal-cli.js';
export { startTemporal, type EmbeddedTemporal, type StartTemporalInput } from './temporal-server.js';
