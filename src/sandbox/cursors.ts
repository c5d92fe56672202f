/**
 * Opaque cursors of paginated lists (section 4): a position, signed together with the identity of its list.
 *
 * A cursor that was altered, truncated or issued by another list (other filters, another tenant) is refused. Handlers
 * can therefore use the position that they read without validating it again.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { JsonValue } from '../domain/values/json.js';
import { Refusal } from './refusal.js';

/** Issues and reads the `cursor` of paginated lists. */
export interface Cursors {
  /**
   * Issues a cursor for `position`. `list` identifies the list: its name, filters and tenant, but not the limit, so
   * that a caller may change the page size between pages.
   */
  write(list: JsonValue, position: JsonValue): string;
  /**
   * Reads the position; null for an absent or empty cursor, which means the first page. Throws an `invalid` {@link
   * Refusal} for a cursor that this list has not issued, or that has expired.
   */
  read<P extends JsonValue>(list: JsonValue, cursor: string | null | undefined): P | null;
}

/** Half of the HMAC: 128 bits cannot be guessed, and the cursor stays short. */
const SIGNATURE_BYTES = 16;

/**
 * Creates the cursors of one server. `secret` signs them; `lifetime` is in seconds, and 0 means that they never expire.
 */
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
          'this list has not issued the cursor; send it back unchanged, with the same filters and tenant',
        );
      const [place, issued] = JSON.parse(position.toString()) as [P, number];
      if (lifetime > 0 && issued + lifetime * 1000 < Date.now())
        throw new Refusal('invalid', `the cursor has expired after ${lifetime} s; begin the list again`);
      return place;
    },
  };
}

/** One page of a list, and the cursor of the next page. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly hasNextPage: boolean;
  /** null on the last page. */
  readonly cursor: string | null;
}

/**
 * Cuts a page of at most `limit` rows. `found` comes from a query for `limit + 1` rows: the extra row shows that there
 * is a next page.
 */
export function pageOf<Row>(found: readonly Row[], limit: number, cursorAfter: (last: Row) => string): Page<Row> {
  const rows = found.slice(0, limit);
  const hasNextPage = found.length > limit;
  return { rows, hasNextPage, cursor: hasNextPage ? cursorAfter(rows.at(-1)!) : null };
}
