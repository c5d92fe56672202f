/** What the stack's child processes are told: addresses, files with secrets, and the sandbox's tenant. */
import { join, resolve } from 'node:path';
import type { Env } from '../config/environment.js';
import { packageRoot } from './package-root.js';
import { secretFile, writePrivate } from './stack-folder.js';
import type { StackServers } from './stack-servers.js';

export type MintToken = (request: { secret: string; scope: 'platform'; expiresIn: string }) => Promise<string>;

const TENANT = 'demo-shop';
const FIXTURE = { id: TENANT, name: 'Online Retail (demo)', externalId: 'online-retail' };

/** The folder with the demo's sync. */
export const SHIPPED_MAPPINGS = join(packageRoot(), 'mappings');

/** What the stack supplies beside its own addresses: a value of the environment stands over it. */
const CHOICES = ['PARTNER_SYNC_MAPPINGS', 'PARTNER_SYNC_TASK_QUEUE', 'PLATFORM_TENANT', 'SOURCE_URL'];

/** The values of an environment that stand over the stack's. */
export function choicesOf(env: Env): Record<string, string> {
  const said = CHOICES.flatMap((name) => (env[name] ? [[name, env[name]]] : []));
  const choices = Object.fromEntries(said) as Record<string, string>;
  const mappings = choices['PARTNER_SYNC_MAPPINGS'];
  // The processes of the stack run in a folder of their own.
  return mappings === undefined ? choices : { ...choices, PARTNER_SYNC_MAPPINGS: resolve(mappings) };
}

/** Writes the sandbox's fixture, with the tenant that the stack works for; answers the file. */
export function sandboxFixture(folder: string, tenant = TENANT): string {
  const file = join(folder, 'sandbox-fixture.json');
  const others = tenant === TENANT ? [] : [{ id: tenant, name: tenant, externalId: tenant }];
  writePrivate(file, `${JSON.stringify({ tenants: [FIXTURE, ...others] }, null, 2)}\n`);
  return file;
}

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
  writePrivate(tokenFile, `${await mintToken({ secret: jwt.secret, scope: 'platform', expiresIn: '30d' })}\n`);
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
 * The environment of what works against the stack: ours, without what would lead it elsewhere. A PLATFORM_TOKEN of the real platform
 * in somebody's shell would otherwise win over the sandbox's token, and be sent to the sandbox.
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
