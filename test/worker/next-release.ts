/** The release after this one, installed: another package version, and workflows that do more than those of this release. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { ROOT } from '../docs/pages.js';
import { DIST } from '../pipeline/worker-process.js';

export interface Release {
  /** The command line. */
  readonly cli: string;
  remove(): void;
}

/** A change of the commands of a workflow, guarded as CONTRIBUTING.md says. */
const CHANGED = (version: string): string => `
  import { patched, upsertMemo } from '@temporalio/workflow';
  import * as previous from './run.js';
  const noted = (workflow) => (input) => {
    if (patched('notes its release')) upsertMemo({ release: '${version}' });
    return workflow(input);
  };
  export const sync = noted(previous.sync);
  export const backfill = noted(previous.backfill);
`;

/** Makes the release from the build, which must be there. A run of its code has its version in the memo, as `release`. */
export async function nextRelease(version: string): Promise<Release> {
  const folder = mkdtempSync(join(tmpdir(), 'next-release-'));
  const dist = join(folder, 'dist');
  cpSync(DIST, dist, { recursive: true });
  for (const name of ['node_modules', 'mappings']) symlinkSync(join(ROOT, name), join(folder, name));
  const description = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as object;
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...description, version }));

  const workflows = join(dist, 'workflows/index.js');
  const others = readFileSync(workflows, 'utf8').replace(/^export \{ backfill, sync \}.*$/m, '');
  writeFileSync(workflows, others + CHANGED(version));
  const logger = new DefaultLogger('ERROR', () => undefined);
  const { code } = await bundleWorkflowCode({ workflowsPath: workflows, logger });
  writeFileSync(join(dist, 'workflow-bundle.js'), code);
  return { cli: join(dist, 'src/cli/main.js'), remove: () => rmSync(folder, { recursive: true, force: true }) };
}
