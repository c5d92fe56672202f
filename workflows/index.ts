/** Every workflow type that a worker registers, by its exported name. */
export { askWorkers } from './ask-workers.js';
export { backfill, sync } from './run.js';
