/** Which mappings a command works on, and in which order. */
import { unknownMapping } from '../../domain/sync/unknown-mapping.js';
import type { SyncSpec } from '../../domain/sync/sync.js';
import { runningOrder } from './running-order.js';

/**
 * The mappings named in `asked`, or all of the sync if it is undefined, parents before children whatever the order in
 * which they were given. Throws `input_invalid` for a name that the sync does not have, with the nearest one that it
 * has.
 */
export function mappingsInOrder(spec: SyncSpec, asked?: readonly string[]): string[] {
  const known = spec.mappings.map((m) => m.name);
  const unknown = asked?.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw unknownMapping(spec.name, unknown, known);
  }
  const all = runningOrder(spec.mappings).flatMap((stage) => stage.full);
  return asked === undefined ? all : all.filter((name) => asked.includes(name));
}
