/** What statements on the ledger tell: that a point is reached at which a trap may wait, or that something interesting happens. */

export interface Told {
  readonly points: readonly string[];
  readonly seen: readonly string[];
}

/** What tells the statements of a claim, of a checkpoint, of the end of a partition, and of a removal plan that is carried out from others. */
const POINTS: Readonly<Record<string, string>> = {
  claim: 'AS concurrent',
  checkpoint: 'resume_cursor = ',
  done: 'update "partitions" set "done"',
  removals: 'FROM removals r JOIN tenants t',
};

const SEEN: Readonly<Record<string, string>> = {
  'changed rows were settled': 'DELETE FROM changed_rows',
  'a deleted row was left to another run': 'UPDATE changed_rows SET "after_run"',
  'the record of a changed row was to be removed': 'UPDATE changed_rows SET "plan_id"',
};

/** Each text is looked through once: a seed executes thousands of statements. */
const known = new Map<string, Told>();

export function toldBy(sql: string): Told {
  let told = known.get(sql);
  if (told === undefined) {
    const namesIn = (markers: Readonly<Record<string, string>>): string[] =>
      Object.keys(markers).filter((name) => sql.includes(markers[name]!));
    told = { points: namesIn(POINTS), seen: namesIn(SEEN) };
    known.set(sql, told);
  }
  return told;
}
