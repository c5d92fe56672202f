/** Every workflow type the worker knows. */
export { askWorkers } from './ask-workers.js';
export { backfill } from './backfill.js';
export { sync } from './sync.js';
