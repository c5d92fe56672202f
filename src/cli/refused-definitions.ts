/** Why schema definitions were refused: the platform's words for each, and which of them stand in each other's way. */
import { PartnerSyncError } from '../domain/errors.js';
import type { SchemaDefinitionFile } from '../domain/sync.js';
import { cycleOf } from '../mapping/stages.js';
import { saidOf } from './platform/told.js';
import type { RefusedDefinition } from './push-in-turns.js';

/** @param pushed all that were to be pushed */
export function refusalOf(
  refused: readonly RefusedDefinition[],
  pushed: readonly SchemaDefinitionFile[],
): PartnerSyncError {
  const names = new Set(refused.map((r) => r.definition.name));
  const taken = pushed.map((d) => d.name).filter((name) => !names.has(name));
  const circles = circlesAmong(refused);
  return new PartnerSyncError(
    'platform_refused',
    [
      `the platform refused ${refused.length} of ${pushed.length} schema definitions; it has taken ${taken.join(', ') || 'none'}`,
      ...refused.map(({ definition, error }) => `${definition.name}: ${saidOf(error)}`),
      ...refused
        .filter(({ definition }) => !circles.some((circle) => circle.includes(definition.name)))
        .flatMap(({ definition, missing }) =>
          missing.map((r) => `${definition.name} refers to ${r.schemaName} (${r.field}), which is not on the platform`),
        ),
      ...circles.map((circle) => circleLine(circle, refused)),
    ].join('\n'),
  );
}

/** Each closed, as `cycleOf` gives them. */
function circlesAmong(refused: readonly RefusedDefinition[]): string[][] {
  const circles: string[][] = [];
  for (let left = refused; ;) {
    const nodes = left.map(({ definition, missing }) => ({
      name: definition.name,
      refs: missing.map((r) => r.schemaName),
    }));
    const circle = cycleOf(nodes);
    if (circle === null) return circles;
    circles.push(circle);
    left = left.filter(({ definition }) => !circle.includes(definition.name));
  }
}

function circleLine(circle: readonly string[], refused: readonly RefusedDefinition[]): string {
  const fields = (from: string, to: string): string =>
    refused
      .find(({ definition }) => definition.name === from)!
      .missing.filter((r) => r.schemaName === to)
      .map((r) => r.field)
      .join(', ');
  const steps = circle.slice(1).map((to, i) => `${circle[i]!} (${fields(circle[i]!, to)})`);
  return (
    `${[...steps, circle[0]!].join(' -> ')} refer to each other in a circle. A platform that refuses a definition whose ` +
    'references do not exist yet can take none of them: make one of these fields plain text, {"type":"string"}, in its ' +
    'schema definition, and a plain column in its mapping'
  );
}
