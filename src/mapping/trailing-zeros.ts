/** The zeros at the end of a text. An expression such as `0+$` is tried at every zero, and takes the square of a long run of them. */

export function cutTrailingZeros(text: string): string {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === ZERO) end--;
  return text.slice(0, end);
}

const ZERO = 0x30;
