/** The workflows' code, bundled: as it is, or with the interceptors that make them part of a trace. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type BundleOptions, type WorkflowBundleOption } from '@temporalio/worker';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** The bundles of the build. */
const FILES = { plain: path('../../workflow-bundle.js'), traced: path('../../workflow-bundle-traced.js') };

/** The bundle for a worker; from the sources (in tests) it is made at start, which takes seconds. */
export async function workflowBundle(traced: boolean): Promise<WorkflowBundleOption> {
  const codePath = traced ? FILES.traced : FILES.plain;
  return existsSync(codePath) ? { codePath } : bundleWorkflowCode(bundleOptions(traced));
}

/** How the modules beside this one are bundled, compiled or not. */
export function bundleOptions(traced: boolean): BundleOptions {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return {
    workflowsPath: path(`../../workflows/index.${extension}`),
    workflowInterceptorModules: traced ? [path(`../../workflows/trace-interceptors.${extension}`)] : [],
  };
}
