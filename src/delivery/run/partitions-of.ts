/** The partitions of a mapping that a run reads, by its mode and input. */
import { PartnerSyncError } from '../../domain/errors.js';
import type { RunInput } from '../../domain/run/run.js';
import type { RowPosition, ReadPlan, SourceKey, SourceType } from '../../domain/source/source.js';
import { seconds } from '../../domain/timeouts.js';
import { quoted } from '../../domain/values/quoted.js';
import { ofKeyRange, type NewPartition } from '../../ledger/runs/partitions.js';
import { EVERYTHING } from '../../reading/read-bounds.js';
import { inKeyOrder, keyIn } from '../../reading/reading-order.js';
import { cursorBoundText, momentOf } from '../../source/cursor-time.js';
import type { OpenMapping, OpenSync } from '../dependencies.js';
import { cursorPosition, type StoredPosition } from '../cursor-position.js';

/** Rows of one key partition: large enough that dispatching it costs little, small enough to spread over workers. */
const ROWS_PER_PARTITION = 250_000;

/** Every row by key, moving no position. */
const ALL_BY_KEY = ofKeyRange({ after: null, through: null });

/** Rows by cursor, moving no position. */
const BY_CURSOR = { ...ALL_BY_KEY, byCursor: true };

/**
 * What a run that begins now reads of the mapping.
 *
 * @param position up to where incremental runs have read
 * @throws PartnerSyncError `config_invalid` if rows have no value in the cursor, `input_invalid` if a key bound does
 *   not fit the mapping's key
 */
export async function partitionsOf(
  { source }: Pick<OpenSync, 'source'>,
  mapping: Pick<OpenMapping, 'plan' | 'spec'>,
  { mode, input }: { readonly mode: string; readonly input: RunInput },
  position: StoredPosition,
): Promise<NewPartition[]> {
  const { plan, spec } = mapping;
  if (input.limit !== undefined) return firstRows(source, plan, input.limit);
  if (input.externalIds !== undefined) return [{ ...ALL_BY_KEY, externalIds: input.externalIds }];
  if (input.afterKey !== undefined || input.throughKey !== undefined) return [await keyRange(source, mapping, input)];
  if (spec.cursor !== null && isReadInOrder(spec, mode)) {
    // A row without a cursor value is never below the high watermark, so no incremental run would read it.
    if (await source.hasNull(plan, spec.cursor.column))
      throw new PartnerSyncError(
        'config_invalid',
        `mapping ${spec.name}: rows without a value in the cursor ${spec.cursor.column} would never be read; fill it, or use coalesce in a query`,
      );
    return sincePosition(source, mapping, position, spec.cursor.overlap);
  }
  if (input.from !== undefined || input.to !== undefined) {
    return [{ ...BY_CURSOR, ...(await boundsOf(source, mapping, input)) }];
  }
  return (await source.splitKeys(inKeyOrder(plan), ROWS_PER_PARTITION)).map(ofKeyRange);
}

/** The bounds of a backfill as the cursor's own values. */
async function boundsOf(
  source: OpenSync['source'],
  { plan, spec: { name } }: Pick<OpenMapping, 'plan' | 'spec'>,
  input: Pick<RunInput, 'from' | 'to'>,
): Promise<Pick<NewPartition, 'cursorFrom' | 'cursorBefore'>> {
  const { type, databaseType } = (await source.describe(plan.relation)).find((column) => column.name === plan.cursor)!;
  // SQLite compares texts, in whatever format the application writes them; the others read any.
  const isText = (await source.server()).product === 'SQLite';
  const ofData = isText ? await source.highWatermark(plan) : null;
  const boundOf = (edge: 'from' | 'to'): string | null => {
    const text = input[edge];
    if (text === undefined) return null;
    const like = ofData ?? formatOf(type, text);
    const bound = cursorBoundText(text, like, plan.cursorZone ?? null, edge);
    if (bound !== null) return bound;
    throw new PartnerSyncError(
      'input_invalid',
      `"${edge}" does not fit the cursor ${plan.cursor} of mapping ${name}, which is ${databaseType}: got ${quoted(text)}`,
    );
  };
  return { cursorFrom: boundOf('from'), cursorBefore: boundOf('to') };
}

/** How a cursor of this type is written with as many digits of a second as the bound has. */
function formatOf(type: SourceType, bound: string): string {
  if (type === 'date') return '0000-00-00';
  const fraction = /\.\d+/.exec(bound)?.[0] ?? '';
  const time = `0000-00-00 00:00:00${fraction}`;
  return type === 'timestamp' ? time : type === 'timestamptz' ? `${time}+00` : '0x0';
}

/** Whether the run's partitions of the mapping must be read one after the other: they move its position. */
export const isReadInOrder = ({ cursor, feed }: OpenMapping['spec'], mode: string): boolean =>
  mode === 'incremental' && cursor !== null && feed === null;

/**
 * What has changed since the position, and before that rows that are read again: those of the overlap, and some above the high
 * watermark. They are partitions of their own, which do not move the position: a run that failed within the overlap would move it back.
 */
async function sincePosition(
  source: OpenSync['source'],
  mapping: Pick<OpenMapping, 'plan' | 'spec'>,
  position: StoredPosition,
  overlap: number,
): Promise<NewPartition[]> {
  const { plan, spec } = mapping;
  const { reads, cursor: cursorFrom } = await cursorPosition(source, mapping, position);
  const cursorBefore = await source.highWatermark(plan);
  const changed = { ...BY_CURSOR, movesPosition: true, reads, cursorFrom, cursorBefore };
  return [
    ...(await overlapOf(source, plan, cursorFrom, overlap)),
    ...(await aboveHighWatermark(source, plan, cursorBefore, spec.options.ledger)),
    changed,
  ];
}

/** The rows shortly before the position, or all before it if it is that of a zero time; none if it is not a point in time. */
async function overlapOf(
  source: OpenSync['source'],
  plan: ReadPlan,
  position: string | null,
  overlap: number,
): Promise<NewPartition[]> {
  if (position === null) return [];
  const cursorFrom = await source.cursorMinus(plan, position, overlap);
  return cursorFrom === position ? [] : [{ ...BY_CURSOR, cursorFrom, cursorBefore: position }];
}

/**
 * The rows above the high watermark that are not left to the next run. If a transaction that stays open holds it back, these are the
 * rows up to the clock, unless each run would send them all again; of those that are committed later, the next run reads more. And
 * always those whose cursor does not tell when they changed, such as 9999-12-31 or infinity, for no high watermark would pass them.
 * Empty if there are none now, or the cursor is not a point in time.
 */
async function aboveHighWatermark(
  source: OpenSync['source'],
  plan: ReadPlan,
  highWatermark: string,
  ledger: OpenMapping['spec']['options']['ledger'],
): Promise<NewPartition[]> {
  const passed = momentOf(highWatermark, plan.cursorZone ?? undefined);
  if (passed === null) return [];
  const clock = Date.parse((await source.server()).clock);
  const behind = Math.ceil((clock - passed.getTime()) / 1000);
  const ahead = (by: number): Promise<string | null> => source.cursorMinus(plan, highWatermark, -by);
  // Each bound is a question to the source.
  const upToClock = async () => ({ cursorFrom: highWatermark, cursorBefore: await ahead(behind) });
  const farAhead = async () => ({ cursorFrom: await ahead(behind + seconds('cursorAhead')), cursorBefore: null });
  const isBehind = behind > seconds('highWatermarkBehind') && ledger === 'full';
  const found: NewPartition[] = [];
  for (const boundsOfRange of isBehind ? [upToClock, farAhead] : [farAhead]) {
    const range = await boundsOfRange();
    const { rows } = await source.readPage(plan, { ...EVERYTHING, ...range }, 1);
    if (rows.length > 0) found.push({ ...BY_CURSOR, ...range });
  }
  return found;
}

async function keyRange(
  source: OpenSync['source'],
  { plan, spec: { name, key } }: Pick<OpenMapping, 'plan' | 'spec'>,
  input: RunInput,
): Promise<NewPartition> {
  const [afterKey, throughKey] = [input.afterKey ?? null, input.throughKey ?? null];
  for (const [field, values] of Object.entries({ afterKey, throughKey }))
    if (values !== null && values.length !== key.length)
      throw new PartnerSyncError(
        'input_invalid',
        `"${field}" must have a value for each key column of mapping ${name} (${key.join(', ')}), got ${values.length} for ${key.length}`,
      );
  if (afterKey !== null && throughKey !== null) {
    const columns = await source.describe(plan.relation);
    if (isReversed(afterKey, throughKey, (i) => columns.find((column) => column.name === key[i])!.type === 'integer'))
      throw new PartnerSyncError(
        'input_invalid',
        `"afterKey" must be before "throughKey", or no key of mapping ${name} is between them: got ${quoted(afterKey.join(', '))} and ${quoted(throughKey.join(', '))}`,
      );
  }
  return { ...ALL_BY_KEY, afterKey, throughKey };
}

/** Whether the first key is not before the second, as far as numbers tell: of texts, only the database knows the order. */
function isReversed(first: SourceKey, second: SourceKey, isInteger: (index: number) => boolean): boolean {
  const differs = first.findIndex((value, i) => value !== second[i]);
  if (differs === -1) return true;
  const numbers = [first[differs]!, second[differs]!];
  return (
    isInteger(differs) && numbers.every((text) => /^-?\d+$/.test(text)) && BigInt(numbers[0]!) > BigInt(numbers[1]!)
  );
}

/** The first rows by key. Rows that are inserted among them before they are read are part of the sample too. */
async function firstRows(source: OpenSync['source'], plan: ReadPlan, limit: number): Promise<NewPartition[]> {
  const byKey = inKeyOrder(plan);
  const keyOf = keyIn(byKey);
  let last: SourceKey | null = null;
  let left = limit;
  while (left > 0) {
    const after: RowPosition | null = last === null ? null : { cursor: null, key: last };
    const { rows } = await source.readPage(byKey, { ...EVERYTHING, after }, left);
    if (rows.length === 0) break;
    left -= rows.length;
    last = keyOf(rows.at(-1)!);
  }
  return last === null ? [] : [{ ...ALL_BY_KEY, throughKey: last }];
}
