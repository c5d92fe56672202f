/** Decodes UTF-8 without hiding what is invalid: each byte that is no UTF-8 becomes a lone surrogate. */

/**
 * The text of `bytes`. Node would replace invalid bytes by U+FFFD, which looks like any other character. A lone
 * surrogate cannot be encoded as JSON, so the row becomes a dead letter with `value_not_encodable`.
 */
export function decodeText(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.includes('\uFFFD') ? decodeCarefully(bytes) : text;
}

function decodeCarefully(bytes: Buffer): string {
  let text = '';
  let i = 0;
  while (i < bytes.length) {
    const length = sequenceLength(bytes, i);
    text += length === 0 ? String.fromCharCode(0xdc00 + bytes[i]!) : bytes.toString('utf8', i, i + length);
    i += Math.max(1, length);
  }
  return text;
}

/** Bytes of the well-formed character at `start`; 0 if there is none. */
function sequenceLength(bytes: Buffer, start: number): number {
  const first = bytes[start]!;
  const length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (length === 0 || start + length > bytes.length) return 0;
  const character = bytes.subarray(start, start + length);
  return Buffer.from(character.toString('utf8'), 'utf8').equals(character) ? length : 0;
}
