/** A few rows that cover every pair of values of every two factors: most faults need only two conditions. */

export type Factors = Readonly<Record<string, readonly unknown[]>>;
/** One value of each factor, as its place in the factor's list. */
type Row = Readonly<Record<string, number>>;

/** Each row as far as it is covered by none before it: the first open pair, and then what covers most. */
export function inPairs<F extends Factors>(factors: F): { [N in keyof F]: F[N][number] }[] {
  const names = Object.keys(factors);
  const open = new Set<string>();
  const pair = (a: string, i: number, b: string, j: number): string =>
    names.indexOf(a) < names.indexOf(b) ? `${a}=${i} ${b}=${j}` : `${b}=${j} ${a}=${i}`;
  for (const [n, a] of names.entries())
    for (const b of names.slice(n + 1))
      for (const i of factors[a]!.keys()) for (const j of factors[b]!.keys()) open.add(pair(a, i, b, j));
  const rows: Row[] = [];
  for (let [first] = open; first !== undefined; [first] = open) {
    const row: Record<string, number> = Object.fromEntries(
      first.split(' ').map((part) => [part.split('=')[0]!, Number(part.split('=')[1])]),
    );
    for (const name of names.filter((n) => !(n in row))) {
      const gain = (value: number): number =>
        Object.entries(row).filter(([other, chosen]) => open.has(pair(name, value, other, chosen))).length;
      // Of equals another one in each row, so that no value is met by one neighbour only.
      const values = [...factors[name]!.keys()].map((v) => (v + rows.length) % factors[name]!.length);
      row[name] = values.reduce((best, value) => (gain(value) > gain(best) ? value : best));
    }
    for (const [a, i] of Object.entries(row))
      for (const [b, j] of Object.entries(row)) if (a !== b) open.delete(pair(a, i, b, j));
    rows.push(row);
  }
  return rows.map(
    (row) =>
      Object.fromEntries(names.map((name) => [name, factors[name]![row[name]!]])) as { [N in keyof F]: F[N][number] },
  );
}
