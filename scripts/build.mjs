/**
 * Builds dist (`npm run build`): compiled TypeScript, the data files that go with it, files of other packages, and the
 * workflow bundle. With `--if-needed` it builds only if dist is out of date, and does not check types, which would take
 * most of the time.
 */
import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isBuilt, recordBuild, sourceHash } from './is-built.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TSC = 'node_modules/typescript/bin/tsc';
/** Files beside the code that the program reads at run time: SQL, the demo's data, the sandbox's fixture, styles. */
const CARRIED = /\.(sql|csv\.gz|json|md|css|js|svg)$/;

/**
 * Files of packages of which the product needs only these, by their names in dist/third-party, with their licences: a
 * user's project would otherwise get 25 MB. package.json gives the folder the name `#third-party`.
 */
const THIRD_PARTY = {
  'libphonenumber-max.cjs': 'libphonenumber-js/bundle/libphonenumber-max.js',
  'libphonenumber.LICENSE': 'libphonenumber-js/LICENSE',
  'swagger-ui.css': 'swagger-ui-dist/swagger-ui.css',
  'swagger-ui-bundle.js': 'swagger-ui-dist/swagger-ui-bundle.js',
  'swagger-ui-favicon.png': 'swagger-ui-dist/favicon-32x32.png',
  'swagger-ui.LICENSE': 'swagger-ui-dist/LICENSE',
  'swagger-ui.NOTICE': 'swagger-ui-dist/NOTICE',
  'swagger-ui-bundle.LICENSE.txt': 'swagger-ui-dist/swagger-ui-bundle.js.LICENSE.txt',
};

const ifNeeded = process.argv.includes('--if-needed');

if (!ifNeeded || !isBuilt(ROOT)) build();

/** Builds everything and records the hash of the sources; sets the exit code if a step fails. */
function build() {
  const started = Date.now();
  // Computed first, so that edits during the build make dist out of date.
  const hash = sourceHash(ROOT);
  console.error('Building dist ...');
  const compile = [TSC, '-p', 'tsconfig.build.json', ...(ifNeeded ? ['--noCheck'] : [])];
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
  for (const [name, source] of Object.entries(THIRD_PARTY))
    cpSync(join(ROOT, 'node_modules', source), join(ROOT, 'dist', 'third-party', name));
  recordBuild(ROOT, hash);
  console.error(`Built dist in ${((Date.now() - started) / 1000).toFixed(1)} s.`);
}
