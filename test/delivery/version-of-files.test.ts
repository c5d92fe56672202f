/** Work that follows the mapping's files does nothing with other files than those that the run began with. */
import { expect, it } from 'vitest';
import { detectSchemaDrift } from '../../src/delivery/run/schema-drift.js';
import { removeVanished } from '../../src/delivery/removals/remove-vanished.js';
import { sweepDeadLetters } from '../../activities/sweep-dead-letters.js';
import type { Dependencies } from '../../src/delivery/dependencies.js';
import { errorOf } from '../platform/stub-platform.js';

/** A worker whose files have another version than the run; `opened` notes for which run they are asked for. */
function otherFiles() {
  const opened: (string | undefined)[] = [];
  const deps = {
    ledger: { runs: { get: () => Promise.resolve({ mapping_version: 'v1' }) } },
    openSync: (_name: string, runId?: string) => {
      opened.push(runId);
      return Promise.resolve({ spec: { name: 'shop', version: 'v2', mappings: [] } });
    },
  };
  return { deps: deps as unknown as Dependencies, opened };
}

const run = { runId: '7', sync: 'shop' };
const { signal } = new AbortController();

it.each<[string, (deps: Dependencies) => Promise<unknown>]>([
  ['detectSchemaDrift', (deps) => detectSchemaDrift(deps, { ...run, mappings: ['orders'], accept: false })],
  ['sweepDeadLetters', (deps) => sweepDeadLetters(deps, { ...run, mappings: ['orders'] }, signal)],
  ['removeVanished', (deps) => removeVanished(deps, { ...run, mapping: 'orders' }, signal)],
])('%s is left to a worker with the files of the run', async (_, work) => {
  const { deps, opened } = otherFiles();

  expect((await errorOf(work(deps))).code).toBe('mapping_changed');
  expect(opened).toEqual(['7']);
});
