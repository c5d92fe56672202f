/** `partner-sync sandbox`: the platform for development, alone, on PostgreSQL. */
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { readVariable } from '../../config/environment.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { isTenantId } from '../../domain/names.js';
import { createLogger } from '../../observability/log.js';
import { errorCode } from '../../domain/foreign-text.js';
import { defaultFixture } from '../../sandbox/fixture/default-fixture.js';
import { loadInto } from '../../sandbox/fixture/load.js';
import { parseFixture } from '../../sandbox/fixture/parse.js';
import { startSandbox } from '../../sandbox/server.js';
import { parseSettings } from '../../sandbox/settings.js';
import { mintToken } from '../../sandbox/token.js';
import { port, tokenLife } from '../arguments.js';
import { findStateUrl, jwtSecret } from '../sandbox/environment.js';
import { sayingWhatIsWrong } from '../sandbox/failure.js';
import { begins } from '../begins.js';
import { action, EXIT } from '../command-context.js';

interface SandboxFlags {
  json?: boolean;
  port: number;
  host: string;
  stateUrl?: string;
  fixture?: string;
  settings?: string;
}

const STATE_URL =
  'PostgreSQL database (default: SANDBOX_STATE_URL, else PARTNER_SYNC_STATE_URL; schema sandbox is created in it)';

export function addSandbox(program: Command): void {
  const sandbox = program
    .command('sandbox')
    .summary('the platform, for development')
    .description("Serves the platform's interface from a PostgreSQL database of its own. Not for production.")
    .option('--port <number>', '0 takes a free port', port, 8080)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--state-url <url>', STATE_URL)
    .option(
      '--fixture <file>',
      'JSON file with tenants and what they have (default: made-up ones, if there is no tenant)',
    )
    .option('--settings <file>', 'JSON file with settings; docs/sandbox.md lists them')
    .enablePositionalOptions()
    .addHelpText(
      'after',
      '\nExamples:\n  partner-sync sandbox --port 8080 --fixture tenants.json\n  partner-sync sandbox --settings settings.json\n  partner-sync sandbox token --tenant acme-outdoor\n  partner-sync sandbox load tenants.json\n\nSANDBOX_JWT_SECRET (or SANDBOX_JWT_SECRET_FILE) signs and checks tokens; at least 32 characters.',
    )
    .hook(
      'preAction',
      begins(() => 'starting the sandbox ...'),
    )
    .action(
      action<[], SandboxFlags>(async ({ parts, output }, flags) => {
        const stateUrl = await findStateUrl(parts.env, flags.stateUrl);
        const log = createLogger((await readVariable(parts.env, 'PARTNER_SYNC_LOG_LEVEL')) ?? 'info');
        const server = await sayingWhatIsWrong(
          startSandbox({
            stateUrl,
            port: flags.port,
            host: flags.host,
            jwtSecret: await jwtSecret(parts.env),
            logger: log,
            ...(flags.fixture !== undefined && { fixture: await readJson(flags.fixture, parseFixture) }),
            ...(flags.settings !== undefined && { settings: await readJson(flags.settings, parseSettings) }),
          }),
        );
        output.note(`sandbox ready at ${server.url} (to read and try: ${server.url}/reference)`);
        await firstSignal();
        await server.close();
        return EXIT.done;
      }),
    );
  sandbox
    .command('token')
    .description("Prints a token for development: the platform account's, or one tenant's.")
    .option('--tenant <id>', 'a token for this tenant alone; it opens no /partner/ operation')
    .option('--expires-in <duration>', 'such as 1h or 30d', tokenLife, '24h')
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
  sandbox
    .command('load')
    .argument('[file]', 'JSON file with a fixture (default: the made-up one that ships)')
    .description('Adds a fixture to a sandbox, running or not, and brings what is there up to date.')
    .option('--state-url <url>', STATE_URL)
    .action(
      action<[string | undefined], { json?: boolean; stateUrl?: string }>(async ({ parts, output }, file, flags) => {
        const fixture = file === undefined ? defaultFixture() : await readJson(file, parseFixture);
        await sayingWhatIsWrong(loadInto(await findStateUrl(parts.env, flags.stateUrl), fixture));
        output.note(`loaded ${fixture.tenants.length} tenants and what they have`);
        return EXIT.done;
      }),
    );
}

/** What `parse` makes of a JSON file; whatever is wrong with it is said with its name. */
async function readJson<T>(file: string, parse: (value: unknown, file: string) => T): Promise<T> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new PartnerSyncError('config_invalid', `${file} cannot be read (${errorCode(error) || 'unknown'})`);
  });
  try {
    return parse(JSON.parse(text), file);
  } catch (error) {
    const reason = error instanceof SyntaxError ? `${file} is not JSON: ${error.message}` : (error as Error).message;
    throw new PartnerSyncError('config_invalid', reason);
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
