/**
 * Why schema definitions were rejected: the platform's message for each, and which of them refer to each other in a
 * cycle.
 */
import { quantity } from '../domain/values/quantity.js';
import { PartnerSyncError } from '../domain/errors.js';
import type { SchemaDefinitionFile } from '../domain/sync/sync.js';
import { cycleOf } from '../mapping/order/stages.js';
import { responseText } from '../platform/error.js';
import type { RefusedDefinition } from './push-in-order.js';

/**
 * One `platform_refused` about all that were rejected, a line for each reason.
 *
 * @param pushed all that were to be pushed
 */
export function refusalOf(
  refused: readonly RefusedDefinition[],
  pushed: readonly SchemaDefinitionFile[],
): PartnerSyncError {
  const names = new Set(refused.map((r) => r.definition.name));
  const taken = pushed.map((d) => d.name).filter((name) => !names.has(name));
  const cycles = cyclesAmong(refused);
  return new PartnerSyncError(
    'platform_refused',
    [
      `the platform rejected ${refused.length} of ${quantity(pushed.length, 'schema definition')}; it accepted ${taken.join(', ') || 'none'}`,
      ...refused.map(({ definition, error }) => `${definition.name}: ${responseText(error)}`),
      ...refused
        .filter(({ definition }) => !cycles.some((cycle) => cycle.includes(definition.name)))
        .flatMap(({ definition, missing }) =>
          missing.map((r) => `${definition.name} refers to ${r.schemaName} (${r.field}), which is not on the platform`),
        ),
      ...cycles.map((cycle) => cycleLine(cycle, refused)),
    ].join('\n'),
  );
}

/** The cycles among the rejected definitions. Each begins and ends with the same name, as `cycleOf` returns them. */
function cyclesAmong(refused: readonly RefusedDefinition[]): string[][] {
  const cycles: string[][] = [];
  let left = refused;
  while (true) {
    const nodes = left.map(({ definition, missing }) => ({
      name: definition.name,
      refs: missing.map((r) => r.schemaName),
    }));
    const cycle = cycleOf(nodes);
    if (cycle === null) return cycles;
    cycles.push(cycle);
    left = left.filter(({ definition }) => !cycle.includes(definition.name));
  }
}

/**
 * What a cycle consists of and how to break it: a reference that is plain text instead is not checked by the platform.
 */
function cycleLine(cycle: readonly string[], refused: readonly RefusedDefinition[]): string {
  const fields = (from: string, to: string): string =>
    refused
      .find(({ definition }) => definition.name === from)!
      .missing.filter((r) => r.schemaName === to)
      .map((r) => r.field)
      .join(', ');
  const steps = cycle.slice(1).map((to, i) => `${cycle[i]!} (${fields(cycle[i]!, to)})`);
  return (
    `${[...steps, cycle[0]!].join(' -> ')} refer to each other in a cycle. A platform that rejects a definition whose ` +
    'references do not exist yet can accept none of them: make one of these fields plain text, {"type":"string"}, in its ' +
    'schema definition, and a plain column in its mapping'
  );
}
