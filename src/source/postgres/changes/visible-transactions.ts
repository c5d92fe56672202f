/**
 * Which transactions every query sees that begins from now on.
 *
 * A slot reports a commit as soon as it is in the log. Queries see it only once its transaction has left the list of those
 * that are running, which may take as long as a synchronous standby does not answer. Whoever read the row meanwhile would
 * read it as it was before, and never again.
 */

/** Says of a transaction, by the number that a slot gives it, whether it is visible. */
export type IsVisible = (transaction: number) => boolean;

/**
 * Reads the text of a snapshot, `xmin:xmax:list`. Its numbers have 64 bits and those of a slot 32, which start again at 0; two
 * that matter at the same time are less than 2^31 apart.
 */
export function visibleIn(snapshot: string): IsVisible {
  const [, next, list] = snapshot.split(':');
  const bound = low32(next!);
  const running = new Set(list === '' ? [] : list!.split(',').map(low32));
  return (transaction) => ((transaction - bound) | 0) < 0 && !running.has(transaction);
}

const low32 = (text: string): number => Number(BigInt(text) & 0xffff_ffffn);
