/** Every workflow type the worker knows. */
export { backfill } from './backfill.js';
export { sync } from './sync.js';
