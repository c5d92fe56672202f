/** Checks what a run was asked for against the sync's files, before anything is read or sent. */
import { unknownMapping } from '../../domain/sync/unknown-mapping.js';
import { PartnerSyncError } from '../../domain/errors.js';
import type { RunInput, RunKind } from '../../domain/run/run.js';
import { checkRange } from '../../domain/run/check-range.js';
import { removesRecords, type MappingSpec, type SyncSpec } from '../../domain/sync/sync.js';
import { lookUpOf } from '../../mapping/compile/external-id-look-up.js';
import { mappingNode } from '../../mapping/order/stages.js';

/** The mode that the run has in the ledger and in its report. */
export function modeOf(kind: RunKind, input: RunInput, spec: SyncSpec): string {
  if (kind === 'backfill') return input.replay === undefined ? 'backfill' : 'replay';
  return input.limit === undefined ? (input.mode ?? spec.mode) : 'sample';
}

/**
 * Names of the mappings that the run reads.
 *
 * @throws PartnerSyncError `input_invalid` or `config_invalid` if one is unknown or cannot be read as asked for
 */
export function validatedMappings(spec: SyncSpec, mode: string, input: RunInput): ReadonlySet<string> {
  const names = namedMappings(spec, input);
  const chosen = spec.mappings.filter((mapping) => names.has(mapping.name));
  checkRange(input);
  checkCursors(chosen, input);
  if (input.limit !== undefined) checkSample(chosen);
  if (mode === 'mirror') checkMirror(spec.name, chosen);
  if (mode === 'live') checkLive(spec.name, chosen);
  return names;
}

function namedMappings({ name: sync, mappings }: SyncSpec, input: RunInput): ReadonlySet<string> {
  const known = mappings.map((mapping) => mapping.name);
  const asked = input.mapping === undefined ? (input.mappings ?? known) : [input.mapping];
  for (const name of asked) {
    if (known.includes(name)) continue;
    throw unknownMapping(sync, name, known);
  }
  return new Set(asked);
}

/** Checked before anything is sent, not only when the run comes to the mapping. */
function checkCursors(chosen: readonly MappingSpec[], { from, to }: RunInput): void {
  if (from === undefined && to === undefined) return;
  const without = chosen.filter((mapping) => mapping.cursor === null);
  if (without.length > 0)
    throw new PartnerSyncError(
      'input_invalid',
      `"from" and "to" need a cursor, which these mappings do not declare: ${namesOf(without)}`,
    );
}

/** A sample is for trying out: it must not mark records as deleted. */
function checkSample(chosen: readonly MappingSpec[]): void {
  const marking = chosen.filter((mapping) => removesRecords(mapping) && mapping.deletes!.column !== null);
  if (marking.length > 0)
    throw new PartnerSyncError(
      'input_invalid',
      `"limit" does not go with mappings whose \`deletes\` marks records: ${namesOf(marking)}; name the others in "mappings"`,
    );
}

/** Nothing would be heard of the other mappings. */
function checkLive(sync: string, chosen: readonly MappingSpec[]): void {
  const without = chosen.filter(({ feed }) => feed === null);
  if (without.length > 0)
    throw new PartnerSyncError(
      'config_invalid',
      `mode live: these mappings of ${sync} have no change feed: ${namesOf(without)}; declare one with \`changes\`, or name the other mappings`,
    );
}

/** A mirror run that cannot remove anything is a mistake. */
function checkMirror(sync: string, chosen: readonly MappingSpec[]): void {
  const removing = chosen.filter(removesRecords);
  if (removing.length === 0)
    throw new PartnerSyncError(
      'config_invalid',
      `mode mirror: no mapping of ${sync} that is run says with \`deletes\` what becomes of records whose rows are gone; use mode full, or declare an action`,
    );
  const unsure = removing.filter((mapping) => lookUpOf(mapping)?.certain !== true);
  if (unsure.length > 0)
    throw new PartnerSyncError(
      'config_invalid',
      `mode mirror: rows must be found by their external id, which must be a column or a template without transforms (but \`string\`); mappings: ${namesOf(unsure)}`,
    );
}

const namesOf = (mappings: readonly MappingSpec[]): string => mappings.map((mapping) => mapping.name).join(', ');

/** Names of the chosen mappings and of all that are connected with them by references, directly or through others. */
export function connectedMappings({ mappings }: SyncSpec, chosen: ReadonlySet<string>): ReadonlySet<string> {
  const nodes = mappings.map(mappingNode);
  const reached = new Set(chosen);
  let size: number;
  do {
    size = reached.size;
    for (const { name, refs } of nodes) {
      if (reached.has(name)) for (const ref of refs) reached.add(ref);
      else if (refs.some((ref) => reached.has(ref))) reached.add(name);
    }
  } while (reached.size > size);
  return reached;
}
