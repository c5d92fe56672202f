/**
 * `npm run sbom --silent > sbom.json`: what is delivered, as CycloneDX: the runtime dependencies with all that they bring,
 * and the packages of which the build copies files (third-party.mjs). npm reads it from the lockfile; nothing is installed.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { BUNDLED_PACKAGES, COPIED_PACKAGES } from './third-party.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { name, dependencies } = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8'));

const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
const all = JSON.parse(execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }));

const dependsOn = new Map(all.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
const nameOf = (ref) => ref.slice(0, ref.lastIndexOf('@'));
const root = all.metadata.component['bom-ref'];
const direct = dependsOn.get(root);
const named = (names) => direct.filter((ref) => names.includes(nameOf(ref)));

const delivered = new Set();
const queue = named([...Object.keys(dependencies), ...BUNDLED_PACKAGES]);
while (queue.length > 0) {
  const ref = queue.pop();
  if (delivered.has(ref)) continue;
  delivered.add(ref);
  queue.push(...(dependsOn.get(ref) ?? []));
}
const copied = named(COPIED_PACKAGES).filter((ref) => !delivered.has(ref));
for (const ref of copied) delivered.add(ref);

const sbom = {
  ...all,
  // npm calls it after the folder.
  metadata: { ...all.metadata, component: { ...all.metadata.component, name } },
  components: all.components.filter((component) => delivered.has(component['bom-ref'])),
  dependencies: all.dependencies
    .filter(({ ref }) => ref === root || delivered.has(ref))
    .map(({ ref, dependsOn }) => ({
      ref,
      // Of what a copied package depends on, nothing is delivered.
      dependsOn: copied.includes(ref) ? [] : dependsOn.filter((other) => delivered.has(other)),
    })),
};
process.stdout.write(`${JSON.stringify(sbom, null, 2)}\n`);
