/**
 * Bundles the workflows at build time, so that a worker starts without a compiler and runs the code that was tested:
 * once as they are, and once with the interceptors that make them part of a trace.
 */
import { existsSync, writeFileSync } from 'node:fs';

const options = new URL('../dist/src/worker/workflow-bundle.js', import.meta.url);

if (!existsSync(options)) {
  console.error('No workflow bundle was built: dist/src/worker/workflow-bundle.js does not exist.');
} else {
  const [{ bundleWorkflowCode, DefaultLogger }, { bundleOptions }] = await Promise.all([
    import('@temporalio/worker'),
    import(options.href),
  ]);
  for (const [name, traced] of [
    ['workflow-bundle', false],
    ['workflow-bundle-traced', true],
  ]) {
    const { code } = await bundleWorkflowCode({ ...bundleOptions(traced), logger: new DefaultLogger('WARN') });
    writeFileSync(new URL(`../dist/${name}.js`, import.meta.url), code);
  }
}
