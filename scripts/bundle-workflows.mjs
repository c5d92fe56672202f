/**
 * Bundles the workflows at build time, so that a worker starts without a compiler and runs the code that was tested:
 * once as they are, and once with the interceptors that make them part of a trace.
 */
import { existsSync, writeFileSync } from 'node:fs';

const bundler = new URL('../dist/src/worker/workflow-bundle.js', import.meta.url);

if (!existsSync(bundler)) {
  console.error('No workflow bundle was built: dist/src/worker/workflow-bundle.js does not exist.');
} else {
  const { bundleWorkflows } = await import(bundler.href);
  for (const [name, traced] of [
    ['workflow-bundle', false],
    ['workflow-bundle-traced', true],
  ]) {
    writeFileSync(new URL(`../dist/${name}.js`, import.meta.url), await bundleWorkflows(traced));
  }
}
