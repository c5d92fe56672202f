/**
 * Bundles the workflows at build time, so that a worker starts without a compiler and runs the code that was tested.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const workflowsPath = fileURLToPath(new URL('../dist/workflows/index.js', import.meta.url));
const bundlePath = fileURLToPath(new URL('../dist/workflow-bundle.js', import.meta.url));

if (!existsSync(workflowsPath)) {
  console.error('No workflow bundle was built: dist/workflows/index.js does not exist.');
} else {
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('WARN') });
  writeFileSync(bundlePath, code);
}
