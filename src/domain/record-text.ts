/** Texts of records in UTF-8, outside of the garbage collector's sight, and their way into a body. */

/** Where a text stands; a comma follows it, and its neighbour often begins behind that. */
export interface RecordText {
  readonly buffer: Buffer;
  readonly start: number;
  readonly end: number;
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
