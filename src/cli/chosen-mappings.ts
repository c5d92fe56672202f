/** The mappings that a command line asks for, parents before children. */
import { PartnerSyncError } from '../domain/errors.js';
import { nearest } from '../domain/names.js';
import type { SyncSpec } from '../domain/sync.js';
import { runningOrder } from '../mapping/running-order.js';

/** Throws `input_invalid` for a name that there is not; all of them where none is asked for. */
export function chosenMappings(spec: SyncSpec, asked: readonly string[] | undefined): string[] {
  const known = spec.mappings.map((m) => m.name);
  const unknown = asked?.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    const near = nearest(unknown, known);
    throw new PartnerSyncError(
      'input_invalid',
      `sync ${spec.name} has no mapping "${unknown}"${near === undefined ? '' : `; did you mean "${near}"?`} It has: ${known.join(', ')}`,
    );
  }
  const all = runningOrder(spec.mappings).flatMap((stage) => stage.full);
  return asked === undefined ? all : all.filter((name) => asked.includes(name));
}
