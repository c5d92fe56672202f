/**
 * `npm run advisories`: fails with 1 if the registry knows of a high or critical advisory on a package that is delivered
 * (sbom.mjs), and with 3 if it cannot be asked, which is neither a failure nor a success.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SEVERE = ['high', 'critical'];

const { stdout } = spawnSync('npm', ['audit', '--package-lock-only', '--json'], { cwd: ROOT, encoding: 'utf8' });
const { vulnerabilities, message } = parsed(stdout);
if (vulnerabilities === undefined) {
  console.log(`the registry cannot be asked: ${message ?? 'npm audit printed no result'}`);
  process.exit(3);
}

const sbom = JSON.parse(
  execFileSync(process.execPath, ['scripts/sbom.mjs'], { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }),
);
const delivered = new Set(sbom.components.map(({ purl }) => decodeURIComponent(/^pkg:npm\/(.+)@/.exec(purl)[1])));
const severe = Object.values(vulnerabilities).filter(
  ({ name, severity }) => delivered.has(name) && SEVERE.includes(severity),
);
for (const { name, severity, range, via } of severe)
  console.log(`${name} ${range}: ${severity}: ${via.map((cause) => cause.title ?? `by ${cause}`).join('; ')}`);
console.log(`${delivered.size} packages delivered, ${severe.length} with a high or critical advisory`);
process.exitCode = severe.length === 0 ? 0 : 1;

/** What npm printed; nothing if it is no JSON. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
