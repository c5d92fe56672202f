/** The workflows' code, bundled once for all test files of a run: bundling takes two seconds of processor time. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { bundleWorkflows } from '../src/worker/workflow-bundle.js';
import { oncePerRun } from './once-per-run.js';

/** As the option `workflowBundle` of a worker; `traced`: with the interceptors of traces. */
export async function workflowBundle(traced = false): Promise<{ readonly codePath: string }> {
  const name = traced ? 'workflow-bundle-traced' : 'workflow-bundle';
  const codePath = await oncePerRun(name, async () => {
    const file = join(inject('runFolder'), `${name}.js`);
    writeFileSync(file, await bundleWorkflows(traced));
    return file;
  });
  return { codePath };
}
