/**
 * Opaque cursors of paginated lists: a position, and a signature that ties it to its list.
 *
 * A cursor that was changed, cut off or given by another list (other filters, another tenant) is refused, so a
 * position can be trusted like a value of our own.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { JsonValue } from '../domain/json.js';
import { Refusal } from './refusal.js';

export interface Cursors {
  /** `list` is everything that makes it this list: its name, filters and tenant, but not the limit. */
  write(list: JsonValue, position: JsonValue): string;
  /** The position; null for the first page. Throws a 400 for a cursor that this list has not given. */
  read<P extends JsonValue>(list: JsonValue, cursor: string | null | undefined): P | null;
}

/** Enough that nobody guesses one, and half the length of a whole one. */
const SIGNATURE_BYTES = 16;

/** `lifetime` is in seconds; 0: for ever. */
export function createCursors(secret: string, lifetime: number): Cursors {
  const sign = (list: JsonValue, position: Buffer): Buffer =>
    createHmac('sha256', secret)
      .update(`cursor ${JSON.stringify(list)} `)
      .update(position)
      .digest()
      .subarray(0, SIGNATURE_BYTES);
  return {
    write(list, position) {
      const bytes = Buffer.from(JSON.stringify([position, lifetime === 0 ? 0 : Date.now()]));
      return Buffer.concat([sign(list, bytes), bytes]).toString('base64url');
    },
    read<P extends JsonValue>(list: JsonValue, cursor: string | null | undefined): P | null {
      if (cursor === null || cursor === undefined || cursor === '') return null;
      const bytes = Buffer.from(cursor, 'base64url');
      const position = bytes.subarray(SIGNATURE_BYTES);
      const signature = bytes.subarray(0, SIGNATURE_BYTES);
      if (signature.length < SIGNATURE_BYTES || !timingSafeEqual(signature, sign(list, position)))
        throw new Refusal(
          'invalid',
          'the cursor is not one that this list has given; send it back unchanged, with the same filters and tenant',
        );
      const [place, given] = JSON.parse(position.toString()) as [P, number];
      if (lifetime > 0 && given + lifetime * 1000 < Date.now())
        throw new Refusal('invalid', `the cursor was good for ${lifetime} s; begin the list again`);
      return place;
    },
  };
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly hasNextPage: boolean;
  /** null on the last page. */
  readonly cursor: string | null;
}

/** The page of up to `limit` rows, from a query that asked for one more: that one tells whether there is a next page. */
export function pageOf<Row>(found: readonly Row[], limit: number, cursorAfter: (last: Row) => string): Page<Row> {
  const rows = found.slice(0, limit);
  const hasNextPage = found.length > limit;
  return { rows, hasNextPage, cursor: hasNextPage ? cursorAfter(rows.at(-1)!) : null };
}
