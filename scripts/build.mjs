/**
 * Builds dist (`npm run build`): compiled TypeScript, the data files that go with it, files of other packages, and the
 * workflow bundle. With `--if-needed` it builds only if dist is out of date, and does not check types, which would take
 * most of the time.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isBuilt, recordBuild, sourceHash } from './is-built.mjs';
import { BUNDLED, COPIED } from './third-party.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TSC = 'node_modules/typescript/bin/tsc';
/** Files beside the code that the program reads at run time: SQL, the demo's data, the sandbox's fixture, styles. */
const CARRIED = /\.(sql|csv\.gz|json|md|css|js|svg)$/;

const ifNeeded = process.argv.includes('--if-needed');

if (!ifNeeded || !isBuilt(ROOT)) await build();

/** Builds everything and records the hash of the sources; sets the exit code if a step fails. */
async function build() {
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
  for (const [name, source] of Object.entries(COPIED))
    cpSync(join(ROOT, 'node_modules', source), join(ROOT, 'dist', 'third-party', name));
  for (const [name, code] of Object.entries(BUNDLED)) await bundle(name, code);
  recordBuild(ROOT, hash);
  console.error(`Built dist in ${((Date.now() - started) / 1000).toFixed(1)} s.`);
}

/** Makes one file of what `code` exports, and another of the licences of all that is in it. */
async function bundle(name, code) {
  const { rolldown } = await import('rolldown');
  const file = join(ROOT, 'dist', 'third-party', name);
  const entry = `${file}.entry.mjs`;
  writeFileSync(entry, code);
  const made = await rolldown({ input: entry, platform: 'node', logLevel: 'silent' });
  // Less than two thirds of the size. Functions and classes keep their names, by which grammars and plots may find them.
  const minify = { compress: false, mangle: { keepNames: true }, codegen: true };
  const { output } = await made.write({ file, format: 'cjs', minify });
  await made.close();
  rmSync(entry);
  writeFileSync(file.replace(/\.cjs$/, '.LICENSE'), licencesOf(output[0].moduleIds));
}

/** The licences of the packages that these modules are of. */
function licencesOf(modules) {
  const folders = modules.flatMap((module) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(module)?.[0] ?? []);
  return [...new Set(folders)]
    .map((folder) => {
      const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
      const text = file === undefined ? 'see its package.json' : readFileSync(join(folder, file), 'utf8').trim();
      return `${folder.split('/node_modules/').at(-1)}\n\n${text}\n`;
    })
    .join('\n----\n\n');
}
