/** The workflows' code, bundled once for all test files of a run: bundling takes two seconds of processor time. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { inject } from 'vitest';
import { oncePerRun } from './once-per-run.js';

/** As the option `workflowBundle` of a worker. */
export async function workflowBundle(): Promise<{ readonly codePath: string }> {
  const codePath = await oncePerRun('workflow-bundle', async () => {
    const { code } = await bundleWorkflowCode({
      workflowsPath: new URL('../workflows/index.ts', import.meta.url).pathname,
      logger: new DefaultLogger('ERROR', () => undefined),
    });
    const file = join(inject('runFolder'), 'workflow-bundle.js');
    writeFileSync(file, code);
    return file;
  });
  return { codePath };
}
