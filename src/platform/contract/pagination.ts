/** Paginated lists (section 4): an opaque cursor, sent back to get the next page. */
import { Type, type Static } from 'typebox';

/** A cursor is opaque: it is only ever sent back to the list that returned it. */
export const Cursor = Type.Optional(Type.String({ description: '`pagination.cursor` of the page before' }));

/** The size of a page. */
export const Limit = (maximum: number, standard: number) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum, default: standard, description: 'entries of a page' }));

export const Pagination = Type.Object({
  hasNextPage: Type.Boolean(),
  cursor: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  total: Type.Optional(Type.Number({ description: 'entries of the whole list' })),
});
export type Pagination = Static<typeof Pagination>;

/** Where an operation takes the cursor, and the field of its response that lists the entries. */
export interface Pages {
  readonly cursorIn: 'query' | 'body';
  readonly entries: 'results' | 'recipients';
}
