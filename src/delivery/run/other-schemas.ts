/**
 * Begins anew with mappings that fill another schema than before: what the ledger knows of their records is about records of the earlier
 * one. If rows counted as unchanged because of it, the new schema would stay empty.
 */
import { PartnerSyncError } from '../../domain/errors.js';
import type { MappingNote } from '../../domain/run/run.js';
import type { SyncSpec } from '../../domain/sync/sync.js';
import { quantity } from '../../domain/values/quantity.js';
import type { Obstacle } from '../../ledger/forget/forget.js';
import { actorOf, type RunRow } from '../../ledger/runs/runs.js';
import type { Dependencies } from '../dependencies.js';

interface OtherSchema {
  readonly mapping: string;
  readonly before: string;
  readonly now: string;
}

/**
 * To be called before the run reads or sends anything. The earlier records stay on the platform.
 *
 * @returns a note for each such mapping
 * @throws PartnerSyncError `run_in_progress` if another run may still fill the earlier schema, `config_invalid` if the platform may
 *   still apply what was sent to it: brought back, it could get older content after newer
 */
export async function forgetOtherSchemas(
  { ledger }: Pick<Dependencies, 'ledger'>,
  run: RunRow,
  spec: SyncSpec,
): Promise<MappingNote[]> {
  const filled = await ledger.ids.filledSchemas(spec.name);
  const changed = spec.mappings.filter(({ name, schema }) => filled.get(name) !== schema.name);
  const others = changed.flatMap(({ name, schema }): OtherSchema[] => {
    const before = filled.get(name);
    return before === undefined ? [] : [{ mapping: name, before, now: schema.name }];
  });
  if (others.length > 0) await forget(ledger, run, others);
  for (const { name, schema } of changed)
    await ledger.ids.noteSchema(await ledger.ids.mappingId(spec.name, name), schema.name);
  return others.map(({ mapping, before, now }) => ({
    mapping,
    message: `it fills the schema ${now} now, and no longer ${before}: all rows are sent`,
  }));
}

async function forget(
  { forget, runs }: Dependencies['ledger'],
  run: RunRow,
  others: readonly OtherSchema[],
): Promise<void> {
  const mappings = others.map(({ mapping }) => mapping);
  const what = { sync: run.sync, tenant: null, externalId: null, mappings, schemas: null };
  const actor = actorOf({ trigger: run.trigger, by: run.started_by });
  const [obstacle] = (await forget.forget(what, actor, run.id)).obstacles;
  if (obstacle === undefined) return;
  const error = errorOf(obstacle, others);
  await runs.end(run.id, 'failed', error);
  throw error;
}

function errorOf({ kind, run, since, state, count }: Obstacle, others: readonly OtherSchema[]): PartnerSyncError {
  const changes = others.map(({ mapping, before, now }) => `${mapping} fills ${now} now, and no longer ${before}`);
  const what = `the schemas of mappings have changed (${changes.join('; ')})`;
  if (kind === 'run')
    return new PartnerSyncError(
      'run_in_progress',
      `${what}, and run ${run}, which has been active since ${since}, may still fill the earlier ones`,
    );
  const batches = `${quantity(count, 'batch', 'batches')} of run ${run}, ${state} since ${since}`;
  const remedy =
    state === 'in doubt'
      ? 'start the run again in some minutes'
      : 'let a run deliver them with the earlier schemas first, or start this one again a day later, when the platform keeps them no more';
  return new PartnerSyncError('config_invalid', `${what}, and the platform may still apply ${batches}: ${remedy}`);
}
