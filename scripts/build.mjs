/**
 * Builds dist (`npm run build`): compiled TypeScript, the data files that go with it, and the workflow bundle.
 * With `--prepare`, as npm calls it after `npm ci`, it builds only if dist is out of date, and not
 * at all if only the production packages are installed. Types are not checked then, which would take most of the time.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isBuilt, recordBuild, sourceHash } from './is-built.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TSC = 'node_modules/typescript/bin/tsc';
/** Files beside the code that the program reads at run time: SQL, the demo's data, the sandbox's fixture, styles. */
const CARRIED = /\.(sql|csv\.gz|json|md|css|js|svg)$/;

const prepare = process.argv.includes('--prepare');

if (prepare && !existsSync(join(ROOT, TSC))) {
  console.error('partner-sync: not built, since the development packages are not installed.');
} else if (!prepare || !isBuilt(ROOT)) {
  build();
}

/** Builds everything and records the hash of the sources; sets the exit code if a step fails. */
function build() {
  const started = Date.now();
  // Computed first, so that edits during the build make dist out of date.
  const hash = sourceHash(ROOT);
  console.error('Building dist ...');
  const compile = [TSC, '-p', 'tsconfig.build.json', ...(prepare ? ['--noCheck'] : [])];
  for (const step of [compile, ['scripts/bundle-workflows.mjs']]) {
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
