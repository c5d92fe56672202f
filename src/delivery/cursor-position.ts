/** Where reading a mapping by its cursor begins: at its position, unless that says nothing of what the mapping reads now. */
import { createHash } from 'node:crypto';
import type { ReadPlan, Source } from '../domain/source/source.js';
import type { Position } from '../ledger/runs/partitions.js';
import { momentOf } from '../source/cursor-time.js';
import type { OpenMapping, OpenSync } from './dependencies.js';

/** A position as it counts for a mapping. */
export interface CursorPosition {
  /** What a position is one of if it is reached now ({@link Position.reads}). */
  readonly reads: string;
  /** The cursor value from which the mapping is read; null: from the first row. */
  readonly cursor: string | null;
}

/** What is known of a position before the source is asked. */
export interface StoredPosition {
  readonly stored: Position | null;
  /** How often rows have come to belong to another tenant without having changed (tenant-moves.ts). */
  readonly tenantMoves: number;
}

/**
 * The position from which the mapping is read now. One in another table, query, column, type or zone tells nothing of these rows, nor
 * does one from before rows came to belong to another tenant, nor one that the source's clock has yet to reach, by more than the overlap:
 * what changes until then would be below it. To be asked before the high watermark is taken: if the column is altered in between, the next
 * run notices.
 */
export async function cursorPosition(
  source: OpenSync['source'],
  { plan, spec }: Pick<OpenMapping, 'plan' | 'spec'>,
  { stored, tenantMoves }: StoredPosition,
): Promise<CursorPosition> {
  const reads = await readBy(source, plan, tenantMoves);
  if (stored === null || stored.reads !== reads) return { reads, cursor: null };
  const moment = momentOf(stored.cursor, plan.cursorZone ?? undefined);
  if (moment === null) return { reads, cursor: stored.cursor };
  const clock = Date.parse((await source.server()).clock);
  const isAhead = moment.getTime() - spec.cursor!.overlap * 1000 > clock;
  return { reads, cursor: isAhead ? null : stored.cursor };
}

/**
 * A hash of what the values of the cursor are, and of which rows: a query may be long, and each run keeps it. Time with a zone of its own
 * means the same whatever the mapping says.
 */
async function readBy(
  source: Pick<Source, 'describe'>,
  { relation, cursor, cursorZone }: ReadPlan,
  tenantMoves: number,
): Promise<string> {
  const type = (await source.describe(relation)).find(({ name }) => name === cursor)?.type;
  const zone = type === 'timestamptz' ? null : (cursorZone ?? null);
  return createHash('sha256')
    .update(JSON.stringify({ ...relation, cursor, type, zone, tenantMoves }))
    .digest('hex')
    .slice(0, 32);
}
