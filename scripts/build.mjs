/**
 * Builds dist: TypeScript, the files beside it, the workflow bundle. `npm run build`.
 * With `--prepare` (npm's script of that name, which runs after `npm ci`) it builds only what is out of date, and
 * nothing where only the production packages are installed.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isBuilt, recordBuild, sourceHash } from './source-hash.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TSC = 'node_modules/typescript/bin/tsc';
/** Read by the programs at run time, beside their own file: SQL, the demo's data, the sandbox's fixture. */
const CARRIED = /\.(sql|csv\.gz|json|md)$/;

if (process.argv.includes('--prepare') && !existsSync(join(ROOT, TSC))) {
  console.error('partner-sync: not built, since the development packages are not installed.');
} else if (!process.argv.includes('--prepare') || !isBuilt(ROOT)) {
  build();
}

function build() {
  const started = Date.now();
  // Taken first: what is edited during the build is built by the next one.
  const hash = sourceHash(ROOT);
  console.error('Building dist ...');
  for (const step of [[TSC, '-p', 'tsconfig.build.json'], ['scripts/bundle-workflows.mjs']]) {
    const { status } = spawnSync(process.execPath, step, { cwd: ROOT, stdio: 'inherit' });
    if (status !== 0) {
      console.error(`The build failed in: node ${step.join(' ')}`);
      process.exitCode = status ?? 1;
      return;
    }
  }
  cpSync(join(ROOT, 'src'), join(ROOT, 'dist', 'src'), {
    recursive: true,
    filter: (source) => !/\.[^/\\]+$/.test(source.slice(ROOT.length)) || CARRIED.test(source),
  });
  recordBuild(ROOT, hash);
  console.error(`Built dist in ${((Date.now() - started) / 1000).toFixed(1)} s.`);
}
