/** Tells whether a run holds a mapping until somebody approves: its rows, or the removals that the run has planned. */
import { IS_ON_HOLD } from '../runs/guards.js';

/** A condition on the guard `g` of the run `runs`. */
export const HOLDS_MAPPING = `(${IS_ON_HOLD} OR runs.ended_at IS NULL AND EXISTS (
  SELECT FROM removal_plans h WHERE h.mapping_id = g.mapping_id AND h.run_id = g.run_id AND h.state = 'awaiting_approval'))`;
