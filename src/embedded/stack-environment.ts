/** The environment of the stack's child processes: addresses, files with secrets, and the sandbox's tenant. */
import { join, resolve } from 'node:path';
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

/** Variables that override what the stack would set by itself. */
const CHOICES = ['PARTNER_SYNC_MAPPINGS', 'PARTNER_SYNC_TASK_QUEUE', 'PLATFORM_TENANT', 'SOURCE_URL'];

/**
 * The variables of an environment that override the stack's. The mappings folder is made absolute, since the stack's
 * processes run in a folder of their own.
 */
export function choicesOf(env: Env): Record<string, string> {
  const given = CHOICES.flatMap((name) => (env[name] ? [[name, env[name]]] : []));
  const choices = Object.fromEntries(given) as Record<string, string>;
  const mappings = choices['PARTNER_SYNC_MAPPINGS'];
  return mappings === undefined ? choices : { ...choices, PARTNER_SYNC_MAPPINGS: resolve(mappings) };
}

/** Writes the sandbox's fixture, which includes the tenant that the stack works for, and returns the file's path. */
export function sandboxFixture(folder: string, tenant = TENANT): string {
  const file = join(folder, 'sandbox-fixture.json');
  const others = tenant === TENANT ? [] : [{ id: tenant, name: tenant, externalId: tenant }];
  writePrivate(file, `${JSON.stringify({ tenants: [FIXTURE, ...others] }, null, 2)}\n`);
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
    choices,
  }: { readonly folder: string; readonly mintToken: MintToken; readonly choices?: Readonly<Record<string, string>> },
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
    PARTNER_SYNC_MAPPINGS: SHIPPED_MAPPINGS,
    PARTNER_SYNC_TASK_QUEUE: 'partner-sync',
    PLATFORM_BASE_URL: sandboxUrl,
    PLATFORM_TOKEN_FILE: tokenFile,
    PLATFORM_TENANT: TENANT,
    SANDBOX_JWT_SECRET_FILE: jwt.file,
    SOURCE_URL: servers.sourceUrl,
    TEMPORAL_ADDRESS: servers.temporalAddress,
    TEMPORAL_NAMESPACE: servers.temporalNamespace,
    ...choices,
  };
}

/**
 * This process's environment with the stack's variables, and without those that would point elsewhere.
 *
 * A PLATFORM_TOKEN of the real platform in the user's shell would otherwise take precedence over the sandbox's token
 * and be sent to the sandbox. `ownTemporal` says that the stack runs its own Temporal server.
 */
export function childEnvironment(
  env: Readonly<Record<string, string>>,
  { ownTemporal }: { readonly ownTemporal: boolean },
): Record<string, string | undefined> {
  const elsewhere = /^(PLATFORM_|SANDBOX_|PARTNER_SYNC_(?!LOG_LEVEL$))/;
  const inherited = Object.entries(process.env).filter(
    ([name]) => !elsewhere.test(name) && !(ownTemporal && name.startsWith('TEMPORAL_')),
  );
  return { ...Object.fromEntries(inherited), ...env };
}
