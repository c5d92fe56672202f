/** `partner-sync sandbox`: the platform for development, alone, on PostgreSQL. */
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { readVariable } from '../../config/environment.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { isTenantId } from '../../domain/names.js';
import { createLogger } from '../../observability/log.js';
import { parseFixture, type SandboxFixture } from '../../sandbox/fixture.js';
import { startSandbox } from '../../sandbox/server.js';
import { mintToken } from '../../sandbox/token.js';
import { port } from '../arguments.js';
import { action, EXIT, type CommandContext } from '../command-context.js';

interface SandboxFlags {
  json?: boolean;
  port: number;
  host: string;
  stateUrl?: string;
  fixture?: string;
}

export function addSandbox(program: Command): void {
  const sandbox = program
    .command('sandbox')
    .summary('the platform, for development')
    .description("Serves the platform's interface from a PostgreSQL database of its own. Not for production.")
    .option('--port <number>', '0 takes a free port', port, 8080)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option(
      '--state-url <url>',
      'PostgreSQL database (default: SANDBOX_STATE_URL, else PARTNER_SYNC_STATE_URL; schema sandbox is created in it)',
    )
    .option('--fixture <file>', 'JSON file with tenants')
    .addHelpText(
      'after',
      '\nExamples:\n  partner-sync sandbox --port 8080 --fixture tenants.json\n  partner-sync sandbox token\n\nSANDBOX_JWT_SECRET (or SANDBOX_JWT_SECRET_FILE) signs and checks tokens; at least 32 characters.',
    )
    .action(
      action<[], SandboxFlags>(async ({ parts, output }, flags) => {
        const stateUrl =
          flags.stateUrl ??
          (await readVariable(parts.env, 'SANDBOX_STATE_URL')) ??
          (await readVariable(parts.env, 'PARTNER_SYNC_STATE_URL'));
        if (stateUrl === undefined)
          throw new PartnerSyncError(
            'config_invalid',
            'no database for the sandbox: give SANDBOX_STATE_URL, PARTNER_SYNC_STATE_URL or --state-url',
          );
        const log = createLogger((await readVariable(parts.env, 'PARTNER_SYNC_LOG_LEVEL')) ?? 'info');
        const server = await startSandbox({
          stateUrl,
          port: flags.port,
          host: flags.host,
          jwtSecret: await jwtSecret(parts.env),
          logger: log,
          ...(flags.fixture !== undefined && { fixture: await readFixture(flags.fixture) }),
        });
        output.note(`sandbox ready at ${server.url}`);
        await firstSignal();
        await server.close();
        return EXIT.done;
      }),
    );
  sandbox
    .command('token')
    .description("Prints a token for development: the platform account's, or one tenant's.")
    .option('--tenant <id>', 'a token for this tenant alone; it opens no /partner/ operation')
    .option('--expires-in <duration>', 'such as 1h or 30d', '24h')
    .action(
      action<[], { json?: boolean; tenant?: string; expiresIn: string }>(async ({ parts }, { tenant, expiresIn }) => {
        if (tenant !== undefined && !isTenantId(tenant))
          throw new PartnerSyncError(
            'config_invalid',
            `--tenant "${tenant}" is no tenant id: 1 to 64 letters, digits, "_" or "-"`,
          );
        const whose = tenant === undefined ? ({ scope: 'platform' } as const) : ({ scope: 'tenant', tenant } as const);
        process.stdout.write(`${await mintToken({ secret: await jwtSecret(parts.env), ...whose, expiresIn })}\n`);
        return EXIT.done;
      }),
    );
}

async function jwtSecret(env: CommandContext['parts']['env']): Promise<string> {
  const secret = await readVariable(env, 'SANDBOX_JWT_SECRET');
  if (secret === undefined || secret.length < 32)
    throw new PartnerSyncError(
      'config_invalid',
      'SANDBOX_JWT_SECRET (or SANDBOX_JWT_SECRET_FILE) must hold at least 32 characters',
    );
  return secret;
}

async function readFixture(file: string): Promise<SandboxFixture> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new PartnerSyncError(
      'config_invalid',
      `fixture ${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`,
    );
  }
  try {
    return parseFixture(JSON.parse(text), file);
  } catch (error) {
    if (error instanceof PartnerSyncError) throw error;
    throw new PartnerSyncError('config_invalid', `fixture ${file} is not JSON`);
  }
}

const firstSignal = (): Promise<void> =>
  new Promise((resolve) => {
    let signals = 0;
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.on(signal, () => {
        if (++signals > 1) process.exit(EXIT.interrupted);
        resolve();
      });
  });
