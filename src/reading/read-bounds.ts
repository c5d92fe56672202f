/** Bounds that contain all rows, or those of a key range. */
import type { KeyRange, ReadBounds } from '../domain/source/source.js';

/** Bounds that contain all rows. */
export const EVERYTHING: ReadBounds = { after: null, cursorFrom: null, cursorBefore: null, throughKey: null };

/** The bounds of a key range. */
export const keyRangeBounds = ({ after, through }: KeyRange): ReadBounds => ({
  ...EVERYTHING,
  after: after === null ? null : { cursor: null, key: after },
  throughKey: through,
});
