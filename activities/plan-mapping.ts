/** Plans what a run reads of a mapping: one cursor range up to the fence, key ranges, a sample, a list of ids, or dead letters. */
import { PartnerSyncError } from '../src/domain/errors.js';
import type { RunInput } from '../src/domain/run.js';
import type { KeyRange, Position, ReadPlan, SourceKey } from '../src/domain/source.js';
import type { MappingRef, PlannedRanges } from '../src/domain/work.js';
import type { NewRange } from '../src/state/ranges.js';
import type { Dependencies, OpenMapping, OpenSync } from './dependencies.js';
import { EVERYTHING } from './mapped-pages.js';
import { assertVersion } from './version-of-run.js';

/** Rows of one key range: large enough that dispatching it costs little, small enough to spread over workers. */
const ROWS_PER_RANGE = 250_000;
/** Key ranges of a mapping that are worked on side by side: by up to as many workers, each of which takes two at once. */
const LANES = 4;

export interface PlanInput extends MappingRef {
  readonly mode: string;
  readonly input: RunInput;
  /** The first of two passes; the second reads up to the same fence. */
  readonly ahead?: boolean;
}

export async function planMapping(deps: Dependencies, plan: PlanInput): Promise<PlannedRanges> {
  const sync = await deps.openSync(plan.sync, plan.runId);
  const mapping = await sync.mapping(plan.mapping);
  const { ranges } = deps.ledger;
  const planned = () => ranges.planned(plan.runId, mapping.mappingId, plan.ahead);
  // A second attempt finds what the first has planned: a fence is taken once per run.
  if ((await planned()).length === 0) {
    assertVersion(plan.runId, (await deps.ledger.runs.get(plan.runId))!.mapping_version, sync.spec);
    await deps.ledger.catalog.keepRecords(mapping.mappingId, mapping.spec.options.ledger === 'full');
    const found =
      plan.input.replay === undefined
        ? await rangesOf(sync, mapping, plan, await ranges.position(mapping.mappingId))
        : // Letters that are written meanwhile are left to the next replay.
          [{ ...OPEN, throughKey: [await deps.ledger.deadLetters.newest(mapping.mappingId)] }];
    if (found.length > 0) await ranges.plan(plan.runId, mapping.mappingId, found);
    // A sample of an empty table has a line in the report all the same.
    else await ranges.forFollowing(plan.runId, mapping.mappingId);
    if (plan.ahead && found.length > 0) await ranges.plan(plan.runId, mapping.mappingId, found, true);
  }
  return { rangeIds: (await planned()).filter((r) => !r.done).map((r) => r.id), lanes: LANES };
}

/** What a run that began now would read of the mapping; `position` is how far incremental runs have come. */
export async function rangesOf(
  { source }: Pick<OpenSync, 'source'>,
  mapping: Pick<OpenMapping, 'plan' | 'spec'>,
  { mode, input }: Pick<PlanInput, 'mode' | 'input'>,
  position: Position | null,
): Promise<NewRange[]> {
  const { plan, spec } = mapping;
  if (input.limit !== undefined) return firstRows(source, plan, input.limit);
  if (input.externalIds !== undefined) return [{ ...OPEN, externalIds: input.externalIds }];
  if (input.afterKey !== undefined || input.throughKey !== undefined) return keyRange(spec, input);
  if (mode === 'incremental' && spec.cursor !== null) {
    // Such a row is never below the fence, so no incremental run would ever read it.
    if (await source.hasNull(plan, spec.cursor.column))
      throw new PartnerSyncError(
        'config_invalid',
        `mapping ${spec.name}: rows without a value in the cursor ${spec.cursor.column} would never be read; fill it, or use coalesce in a query`,
      );
    return [
      {
        ...OPEN,
        byCursor: true,
        movesPosition: true,
        cursorFrom:
          position?.cursor == null ? null : await source.cursorMinus(plan, position.cursor, spec.cursor.overlap),
        cursorBefore: await source.fence(plan),
      },
    ];
  }
  if (input.from !== undefined || input.to !== undefined) {
    return [{ ...OPEN, byCursor: true, cursorFrom: input.from ?? null, cursorBefore: input.to ?? null }];
  }
  const ranges = await source.splitKeys({ ...plan, cursor: null }, ROWS_PER_RANGE);
  return ranges.map((range: KeyRange) => ({ ...OPEN, afterKey: range.after, throughKey: range.through }));
}

function keyRange({ name, key }: OpenMapping['spec'], input: RunInput): NewRange[] {
  const [afterKey, throughKey] = [input.afterKey ?? null, input.throughKey ?? null];
  for (const [field, values] of Object.entries({ afterKey, throughKey }))
    if (values !== null && values.length !== key.length)
      throw new PartnerSyncError(
        'input_invalid',
        `"${field}" must have a value for each key column of mapping ${name} (${key.join(', ')}), got ${values.length} for ${key.length}`,
      );
  return [{ ...OPEN, afterKey, throughKey }];
}

/** The first rows by key; where rows come in between later, they are of the sample too. */
async function firstRows(source: OpenSync['source'], mapping: ReadPlan, limit: number): Promise<NewRange[]> {
  const plan = { ...mapping, cursor: null };
  const keys = plan.key.map((column) => plan.columns.indexOf(column));
  let last: SourceKey | null = null;
  for (let left = limit; left > 0;) {
    const after: Position | null = last === null ? null : { cursor: null, key: last };
    const { rows } = await source.readPage(plan, { ...EVERYTHING, after }, left);
    if (rows.length === 0) break;
    left -= rows.length;
    last = keys.map((i) => rows.at(-1)![i]!);
  }
  return last === null ? [] : [{ ...OPEN, throughKey: last }];
}

/** Every row by key, moving no position. */
const OPEN: NewRange = {
  byCursor: false,
  movesPosition: false,
  cursorFrom: null,
  cursorBefore: null,
  afterKey: null,
  throughKey: null,
  externalIds: null,
};
