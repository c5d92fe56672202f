/** Reads back the value that was written last of a record, without parsing it where its bytes suffice. */
import type { JsonValue } from '../../domain/values/json.js';
import type { RecordTexts } from '../../records/record-texts.js';
import { byteOf, hasByte, isDigit } from './ascii.js';

const BACKSLASH = byteOf('\\');
const MINUS = byteOf('-');
const QUOTE = byteOf('"');

/** Whether the value that was written last, and begins at byte `place` of the record, is a text. */
export const isTextAt = (place: number, json: RecordTexts): boolean => json.bytes[json.start + place] === QUOTE;

const isNumberAt = (place: number, json: RecordTexts): boolean =>
  isDigit(json.bytes[json.start + place]!) || json.bytes[json.start + place] === MINUS;

/** Whether that value is the empty text. */
export const isEmptyTextAt = (place: number, json: RecordTexts): boolean =>
  isTextAt(place, json) && json.written === place + 2;

const hasEscape = (place: number, json: RecordTexts): boolean =>
  hasByte(BACKSLASH, json.bytes, json.start + place, json.at);

/** Reads back the value that was written last and begins at byte `place` of the record. */
export function valueAt(place: number, json: RecordTexts): JsonValue {
  const from = json.start + place;
  if (isTextAt(place, json) && !hasEscape(place, json)) return json.bytes.toString('utf8', from + 1, json.at - 1);
  return JSON.parse(json.bytes.toString('utf8', from, json.at)) as JsonValue;
}

/**
 * Sets `range` to the text or number that was written last, without quotes, in bytes of the record. The range is empty
 * if the value is neither, or has escapes.
 */
export function findTextRange(place: number, json: RecordTexts, range: { from: number; to: number }): void {
  const quote = isTextAt(place, json) ? 1 : 0;
  const isPlain = (quote === 1 || isNumberAt(place, json)) && !hasEscape(place, json);
  range.from = place + quote;
  range.to = isPlain ? json.written - quote : range.from;
}
