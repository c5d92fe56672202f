/** What is delivered: each direct dependency has its reason, the list of all is complete, and advisories are heeded. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readPage, ROOT, tableIn } from './pages.js';

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}
interface Sbom {
  readonly bomFormat: string;
  readonly metadata: { readonly component: { readonly name: string } };
  readonly components: readonly { readonly purl: string; readonly hashes: readonly { readonly alg: string }[] }[];
}
interface ThirdParty {
  readonly COPIED_PACKAGES: readonly string[];
  readonly BUNDLED_PACKAGES: readonly string[];
}

const manifest = JSON.parse(readPage('package.json').text) as Manifest;
const thirdParty = (await import(new URL('scripts/third-party.mjs', `file://${ROOT}`).href)) as ThirdParty;
const copied = [...thirdParty.COPIED_PACKAGES, ...thirdParty.BUNDLED_PACKAGES];
const reasons = tableIn(readPage('docs/adr/0008-dependencies.md').text);

/** Runs a script of scripts/, if need be with another registry, whose answers npm must not keep. */
function run(script: string, registry?: string): Promise<{ code: number; stdout: string }> {
  const cache = mkdtempSync(join(tmpdir(), 'npm-cache-'));
  onTestFinished(() => rmSync(cache, { recursive: true, force: true }));
  const other = registry === undefined ? {} : { npm_config_registry: registry, npm_config_cache: cache };
  const env = { ...process.env, ...other };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [`scripts/${script}`],
      { cwd: ROOT, env, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout) => resolve({ code: error === null ? 0 : Number(error.code), stdout }),
    );
  });
}

/** Whether a row of the table is about the package: `@temporalio/*` is about several. */
const isAbout =
  (name: string) =>
  ([cell]: string[]) =>
    [...cell!.matchAll(/`([^`]+)`/g)].some(([, pattern]) =>
      pattern!.endsWith('*') ? name.startsWith(pattern!.slice(0, -1)) : name === pattern,
    );

describe('a direct dependency', () => {
  it.each([...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies)])(
    'has its use and its reason: %s',
    (name) => {
      const [, use, reason] = reasons.find(isAbout(name)) ?? [];
      expect(use).toMatch(/\w{3}/);
      expect(reason).toMatch(/\w{3}/);
    },
  );

  it.each(copied)('has its reason if files of it are copied: %s', (name) => {
    expect(readPage('docs/adr/0008-dependencies.md').text).toContain(`\`${name}\``);
  });

  it('is one of those that the table has a reason for, in one exact version', () => {
    const known = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies), ...copied];
    for (const row of reasons)
      expect(
        known.filter((name) => isAbout(name)(row)),
        row[0],
      ).not.toEqual([]);
    for (const version of Object.values(manifest.dependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  });
});

describe('the list of what is delivered', () => {
  it('has every runtime dependency and every package of which files are copied, and no tool', async () => {
    const { code, stdout } = await run('sbom.mjs');
    const sbom = JSON.parse(stdout) as Sbom;
    const purls = sbom.components.map(({ purl }) => decodeURIComponent(purl));

    expect({ code, format: sbom.bomFormat, name: sbom.metadata.component.name }).toEqual({
      code: 0,
      format: 'CycloneDX',
      name: 'partner-sync',
    });
    for (const [name, version] of Object.entries(manifest.dependencies))
      expect(purls).toContain(`pkg:npm/${name}@${version}`);
    for (const name of copied)
      expect(
        purls.some((purl) => purl.startsWith(`pkg:npm/${name}@`)),
        name,
      ).toBe(true);
    // What one of those brings.
    expect(purls.some((purl) => purl.startsWith('pkg:npm/d3-scale@'))).toBe(true);
    for (const tool of ['vitest', 'typescript', 'oxlint', '@scarf/scarf'])
      expect(
        purls.some((purl) => purl.startsWith(`pkg:npm/${tool}@`)),
        tool,
      ).toBe(false);
    for (const { purl, hashes } of sbom.components)
      expect(
        hashes.map(({ alg }) => alg),
        purl,
      ).toContain('SHA-512');
  });
});

/** A registry that knows of these advisories, by package; null: it takes no questions. */
async function registry(severities: Readonly<Record<string, string>> | null): Promise<string> {
  const server = http.createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json');
    if (request.url!.endsWith('/security/advisories/bulk')) {
      if (severities === null) response.statusCode = 405;
      const advisories = Object.entries(severities ?? {}).map(([name, severity], id) => [
        name,
        [{ id, url: 'https://example.com', title: 'A hole', severity, vulnerable_versions: '*', cwe: [], cvss: {} }],
      ]);
      response.end(JSON.stringify(Object.fromEntries(advisories)));
    } else {
      // What is known of a package: one version.
      const name = decodeURIComponent(request.url!.slice(1));
      response.end(JSON.stringify({ name, versions: { '1.0.0': { name, version: '1.0.0' } } }));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

describe('advisories', () => {
  it.each([
    ['pass if they are moderate, or about a tool', { undici: 'moderate', typescript: 'critical' }, 0],
    ['fail if one is about what a dependency brings', { 'fast-uri': 'high' }, 1],
    ['fail if one is about a package of which files are copied', { 'libphonenumber-js': 'critical' }, 1],
  ])('%s', async (_, severities, expected) => {
    const { code, stdout } = await run('advisories.mjs', await registry(severities));
    expect({ code, stdout }).toMatchObject({ code: expected });
    expect(stdout).toContain('packages delivered');
  });

  it('are not known if the registry cannot be asked, which is no success', async () => {
    const { code, stdout } = await run('advisories.mjs', await registry(null));
    expect(code).toBe(3);
    expect(stdout).toContain('the registry cannot be asked');
  });
});
