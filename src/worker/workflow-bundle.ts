/** The workflows' code, bundled: as it is, or with the interceptors that make them part of a trace. */
import { existsSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundleOption } from '@temporalio/worker';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** Of the modules beside this one. */
const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

/** The bundles of the build. */
const FILES = { plain: path('../../workflow-bundle.js'), traced: path('../../workflow-bundle-traced.js') };

/** The bundle for a worker; from the sources (in tests) it is made at start, which takes seconds. */
export async function workflowBundle(traced: boolean): Promise<WorkflowBundleOption> {
  const codePath = traced ? FILES.traced : FILES.plain;
  return existsSync(codePath) ? { codePath } : { code: await bundleWorkflows(traced) };
}

/** Bundles the modules beside this one, compiled or not. Returns the code, with its source map. */
export async function bundleWorkflows(traced: boolean): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: path(`../../workflows/index.${EXTENSION}`),
    workflowInterceptorModules: traced ? [path(`../../workflows/trace-interceptors.${EXTENSION}`)] : [],
    // Stack traces need lines, and no columns, which would be most of the map.
    webpackConfigHook: (config) => ({ ...config, devtool: 'inline-cheap-module-source-map' }),
    // Each bundle is made once and tested: what the bundler tells of it helps nobody.
    logger: new DefaultLogger('WARN'),
  });
  return withPortableMap(code);
}

/**
 * Reduces the source map to the places of lines, in files relative to the project. The text of the sources would be half of
 * the bundle, and a worker holds it in memory; absolute paths would tell where the bundle was made.
 */
function withPortableMap(code: string): string {
  const [, before, encoded] = /^(.*base64,)([\w+/=]+)\s*$/s.exec(code)!;
  const { sourcesContent: _, ...map } = JSON.parse(Buffer.from(encoded!, 'base64').toString()) as SourceMap;
  const root = path(EXTENSION === 'ts' ? '../..' : '../../..');
  const sources = map.sources.map((source) => (isAbsolute(source) ? relative(root, source) : source));
  return before! + Buffer.from(JSON.stringify({ ...map, sources })).toString('base64');
}

interface SourceMap {
  readonly sources: readonly string[];
  readonly sourcesContent?: readonly string[];
}
