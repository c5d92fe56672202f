/** Every workflow type that a worker registers, by its exported name. */
export { alerts, watch } from './alerts.js';
export { askWorkers } from './ask-workers.js';
export { backfill, sync } from './run.js';
