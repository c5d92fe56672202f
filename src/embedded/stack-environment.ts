/** What the stack's child processes are told: addresses, files with secrets, and the sandbox's tenant. */
import { join } from 'node:path';
import { packageRoot } from './package-root.js';
import { secretFile, writePrivate } from './stack-folder.js';
import type { StackServers } from './stack-servers.js';

export type MintToken = (request: { secret: string; scope: 'platform'; expiresIn: string }) => Promise<string>;

export const TASK_QUEUE = 'partner-sync';
const TENANT = 'demo-shop';
const FIXTURE = { tenants: [{ id: TENANT, name: 'Online Retail (demo)', externalId: 'online-retail' }] };

/** Writes the sandbox's fixture; answers the file. */
export function sandboxFixture(folder: string): string {
  const file = join(folder, 'sandbox-fixture.json');
  writePrivate(file, `${JSON.stringify(FIXTURE, null, 2)}\n`);
  return file;
}

export async function stackEnvironment(
  { folder, mintToken }: { readonly folder: string; readonly mintToken: MintToken },
  servers: StackServers,
  sandboxUrl: string,
): Promise<Record<string, string>> {
  const jwt = secretFile(folder, 'sandbox-jwt-secret');
  const tokenFile = join(folder, 'platform-token');
  writePrivate(tokenFile, `${await mintToken({ secret: jwt.secret, scope: 'platform', expiresIn: '30d' })}\n`);
  return {
    PARTNER_SYNC_STATE_URL: servers.postgres.url('partner_sync'),
    PARTNER_SYNC_MAPPINGS: join(packageRoot(), 'mappings'),
    PARTNER_SYNC_TASK_QUEUE: TASK_QUEUE,
    PLATFORM_BASE_URL: sandboxUrl,
    PLATFORM_TOKEN_FILE: tokenFile,
    PLATFORM_TENANT: TENANT,
    SANDBOX_JWT_SECRET_FILE: jwt.file,
    SOURCE_URL: servers.sourceUrl,
    TEMPORAL_ADDRESS: servers.temporalAddress,
    TEMPORAL_NAMESPACE: servers.temporalNamespace,
  };
}

/**
 * The environment of a child process: ours, without what would lead it elsewhere. A PLATFORM_TOKEN of the real platform
 * in somebody's shell would otherwise win over the sandbox's token, and be sent to the sandbox.
 */
export function childEnvironment(
  env: Readonly<Record<string, string>>,
  servers: Pick<StackServers, 'temporal'>,
): Record<string, string | undefined> {
  const elsewhere = /^(PLATFORM_|SANDBOX_|PARTNER_SYNC_(?!LOG_LEVEL$))/;
  const inherited = Object.entries(process.env).filter(
    ([name]) => !elsewhere.test(name) && !(servers.temporal !== undefined && name.startsWith('TEMPORAL_')),
  );
  return { ...Object.fromEntries(inherited), ...env };
}
