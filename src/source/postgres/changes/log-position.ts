/** Places in PostgreSQL's log (LSN), as numbers: their texts do not sort. */

/** `16/B374D848` as a number. */
export function logPosition(text: string): bigint {
  const [high, low] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

/** The text that PostgreSQL writes for it. */
export const logPositionText = (position: bigint): string => `${hex(position >> 32n)}/${hex(position & 0xffff_ffffn)}`;

const hex = (number: bigint): string => number.toString(16).toUpperCase();
