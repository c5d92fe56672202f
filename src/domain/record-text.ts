/**
 * Texts of records in UTF-8, outside of the garbage collector's sight: a record lives until its batch is settled, and
 * as strings, thousands of them would be copied from generation to generation.
 */

/** Where a text stands; a comma follows it, and its neighbour often begins behind that. */
export interface RecordText {
  readonly buffer: Buffer;
  readonly start: number;
  readonly end: number;
}

/** Bytes of a buffer: some hundreds of records, so that few are kept for the sake of one that waits. */
const BUFFER_BYTES = 128 * 1024;
/** Bytes that a UTF-16 code unit takes in UTF-8, at most. */
const WIDEST = 3;
const COMMA = 0x2c;

/** Writes texts one behind the other; it is itself the place of the last one, since an object for each would be dear. */
export class RecordTexts implements RecordText {
  buffer: Buffer = Buffer.alloc(0);
  start = 0;
  end = 0;

  put(json: string): void {
    const most = json.length * WIDEST + 1;
    this.start = this.end + 1;
    if (this.buffer.length - this.start < most) {
      this.buffer = Buffer.allocUnsafeSlow(Math.max(BUFFER_BYTES, most));
      this.start = 0;
    }
    this.end = this.start + this.buffer.write(json, this.start, 'utf8');
    this.buffer[this.end] = COMMA;
  }
}

/** A text that stands alone. */
export function recordText(json: string): RecordText {
  const buffer = Buffer.from(`${json},`);
  return { buffer, start: 0, end: buffer.length - 1 };
}

export const bytesOf = ({ buffer, start, end }: RecordText): Buffer => buffer.subarray(start, end);

/** The texts as one JSON array's elements between `opening` and `closing`; neighbours are copied as one. */
export function joinTexts(opening: string, texts: readonly RecordText[], closing: string): Buffer {
  const parts: Uint8Array[] = [Buffer.from(opening)];
  for (let i = 0; i < texts.length;) {
    const { buffer, start } = texts[i]!;
    let { end } = texts[i]!;
    while (++i < texts.length && texts[i]!.buffer === buffer && texts[i]!.start === end + 1) end = texts[i]!.end;
    parts.push(buffer.subarray(start, i < texts.length ? end + 1 : end));
  }
  return Buffer.concat([...parts, Buffer.from(closing)]);
}
