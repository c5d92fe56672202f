/** Rows found by their key, as one group that moves no position. */
import type { SourceKey } from '../src/domain/source.js';
import { newGroup, type Group } from '../src/reading/group.js';
import { averageBytes } from '../src/reading/page-rows.js';
import type { Ledger } from '../src/state/ledger.js';
import type { OpenMapping, OpenSync } from './dependencies.js';
import { readWhatFits } from './read-what-fits.js';

export async function readKeys(
  ledger: Ledger,
  sync: OpenSync,
  mapping: OpenMapping,
  columns: readonly string[],
  values: readonly SourceKey[],
): Promise<Group> {
  const before = await ledger.stamp();
  const page = await readWhatFits(sync.source, mapping.plan, columns, values);
  const after = await ledger.stamp();
  const group = newGroup(before);
  group.add(page, mapping, averageBytes(page));
  return group.finish(after, null);
}
