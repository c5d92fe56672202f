/** The environment of the stack's child processes: addresses, files with secrets, and the sandbox's tenant. */
import { join } from 'node:path';
import { resolvedValue, WORKER_CHOICES } from '../config/dev-stack.js';
import type { Env } from '../config/environment.js';
import { packageRoot } from '../config/package-root.js';
import { secretFile, writePrivate } from './stack-folder.js';
import type { StackServers } from './stack-servers.js';
import { durationText } from '../domain/timeouts.js';

/** Mints a token for the sandbox; see `mintToken` in src/sandbox/token.ts. */
export type MintToken = (request: { secret: string; scope: 'platform'; expiresIn: string }) => Promise<string>;

const TENANT = 'demo-shop';
const FIXTURE = { id: TENANT, name: 'Online Retail (demo)', externalId: 'online-retail' };

/** The bundled mappings folder, which contains the demo's sync. */
export const SHIPPED_MAPPINGS = join(packageRoot(), 'mappings');

/**
 * The variables of an environment that override the stack's. Paths become absolute.
 */
export function choicesOf(env: Env): Record<string, string> {
  const given = WORKER_CHOICES.flatMap((name): [string, string][] => (env[name] ? [[name, env[name]]] : []));
  return Object.fromEntries(given.map(([name, value]) => [name, resolvedValue(name, value)!]));
}

/** A fixture of the sandbox with these tenants and the demo's. */
export const fixtureOf = (tenants: Iterable<string>) => ({
  tenants: [
    FIXTURE,
    ...[...new Set(tenants)].filter((id) => id !== TENANT).map((id) => ({ id, name: id, externalId: id })),
  ],
});

/** Writes the sandbox's fixture with the tenant that the stack works for, and returns the file's path. */
export function sandboxFixture(folder: string, tenant = TENANT): string {
  const file = join(folder, 'sandbox-fixture.json');
  writePrivate(file, `${JSON.stringify(fixtureOf([tenant]), null, 2)}\n`);
  return file;
}

/**
 * The variables that the stack's processes run with. Mints a platform token and writes it to the file that
 * PLATFORM_TOKEN_FILE names.
 */
export async function stackEnvironment(
  {
    folder,
    mintToken,
    mappings,
    choices,
  }: {
    readonly folder: string;
    readonly mintToken: MintToken;
    readonly mappings: string;
    readonly choices?: Readonly<Record<string, string>>;
  },
  servers: StackServers,
  sandboxUrl: string,
): Promise<Record<string, string>> {
  const jwt = secretFile(folder, 'sandbox-jwt-secret');
  const tokenFile = join(folder, 'platform-token');
  writePrivate(
    tokenFile,
    `${await mintToken({ secret: jwt.secret, scope: 'platform', expiresIn: durationText('stackToken') })}\n`,
  );
  return {
    PARTNER_SYNC_STATE_URL: servers.postgres.url('partner_sync'),
    PARTNER_SYNC_MAPPINGS: mappings,
    PARTNER_SYNC_TASK_QUEUE: 'partner-sync',
    PLATFORM_BASE_URL: sandboxUrl,
    PLATFORM_TOKEN_FILE: tokenFile,
    PLATFORM_TENANT: TENANT,
    SANDBOX_JWT_SECRET_FILE: jwt.file,
    ...(servers.sourceUrl !== undefined && { SOURCE_URL: servers.sourceUrl }),
    TEMPORAL_ADDRESS: servers.temporalAddress,
    TEMPORAL_NAMESPACE: servers.temporalNamespace,
    ...choices,
  };
}

/**
 * The user's variables with the stack's, and without those that would point elsewhere. Paths in them become absolute.
 *
 * A PLATFORM_TOKEN of the real platform among the user's would otherwise take precedence over the sandbox's token and be
 * sent to the sandbox. `ownTemporal` says that the stack runs its own Temporal server.
 */
export function childEnvironment(
  own: Env,
  env: Readonly<Record<string, string>>,
  { ownTemporal }: { readonly ownTemporal: boolean },
): Record<string, string | undefined> {
  const elsewhere = /^(PLATFORM_|SANDBOX_|PARTNER_SYNC_(?!LOG_LEVEL$))/;
  const inherited = Object.entries(own).filter(
    ([name]) => !elsewhere.test(name) && !(ownTemporal && name.startsWith('TEMPORAL_')),
  );
  return { ...Object.fromEntries(inherited.map(([name, value]) => [name, resolvedValue(name, value)])), ...env };
}
