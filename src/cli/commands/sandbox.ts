/**
 * `partner-sync sandbox`: serves a stand-in for the platform, for development and tests, from a PostgreSQL database.
 *
 * `sandbox` runs until a signal; the first lets requests finish, a second ends the process with 130. `sandbox token`
 * prints a token, and `sandbox load` adds a fixture; both work whether or not the sandbox is running. All three read
 * SANDBOX_* variables; the schema `sandbox` is created in the database. Exit codes: 0 done, 1 failed, 2 wrong usage or
 * configuration, including a database that cannot be reached and a port that is taken.
 */
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { readVariable } from '../../config/environment.js';
import { quantity } from '../../domain/values/quantity.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { isTenantId } from '../../domain/values/names.js';
import { createLogger } from '../../observability/log.js';
import { errorCode } from '../../domain/values/foreign-text.js';
import { loadInto } from '../../sandbox/fixture/load.js';
import { defaultFixture, parseFixture } from '../../sandbox/fixture/parse.js';
import { startSandbox } from '../../sandbox/server.js';
import { parseSettings } from '../../sandbox/settings.js';
import { mintToken } from '../../sandbox/token.js';
import { port, tokenLife } from '../arguments.js';
import { findStateUrl, jwtSecret } from '../sandbox/sandbox-environment.js';
import { explainingErrors } from '../sandbox/sandbox-error.js';
import { announces } from '../announce.js';
import { withParts, EXIT } from '../command-context.js';
import { onSignals } from '../../worker/on-signals.js';

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
    .description("Serves the platform's interface from a PostgreSQL database of its own. Not for production.")
    .option('--port <number>', '0 takes a free port', port, 8080)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--state-url <url>', STATE_URL)
    .option(
      '--fixture <file>',
      'JSON file with tenants and their data (default: made-up ones, if there is no tenant yet)',
    )
    .option('--settings <file>', 'JSON file with settings; docs/sandbox.md lists them')
    .enablePositionalOptions()
    .addHelpText(
      'after',
      '\nExamples:\n  partner-sync sandbox --port 8080 --fixture tenants.json\n  partner-sync sandbox --settings settings.json\n  partner-sync sandbox token --tenant acme-outdoor\n  partner-sync sandbox load tenants.json\n\nSANDBOX_JWT_SECRET (or SANDBOX_JWT_SECRET_FILE) signs and checks tokens; at least 32 characters.',
    )
    .hook(
      'preAction',
      announces(() => 'starting the sandbox ...'),
    )
    .action(
      withParts<[], SandboxFlags>(async ({ parts, output }, flags) => {
        const stateUrl = await findStateUrl(parts.env, flags.stateUrl);
        const log = createLogger((await readVariable(parts.env, 'PARTNER_SYNC_LOG_LEVEL')) ?? 'info');
        const server = await explainingErrors(
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
        output.note(`sandbox ready at ${server.url} (reference: ${server.url}/reference)`);
        await firstSignal();
        await server.close();
        return EXIT.done;
      }),
    );
  sandbox
    .command('token')
    .description('Prints a token for development, of the platform account or of one tenant.')
    .option('--tenant <id>', 'a token of this tenant only; it is not valid for /partner/ operations')
    .option('--expires-in <duration>', 'how long the token is valid, such as 1h or 30d', tokenLife, '24h')
    .action(
      withParts<[], { json?: boolean; tenant?: string; expiresIn: string }>(
        async ({ parts }, { tenant, expiresIn }) => {
          if (tenant !== undefined && !isTenantId(tenant))
            throw new PartnerSyncError(
              'config_invalid',
              `--tenant "${tenant}" is not a tenant id: 1 to 64 letters, digits, "_" or "-"`,
            );
          const whose =
            tenant === undefined ? ({ scope: 'platform' } as const) : ({ scope: 'tenant', tenant } as const);
          process.stdout.write(`${await mintToken({ secret: await jwtSecret(parts.env), ...whose, expiresIn })}\n`);
          return EXIT.done;
        },
      ),
    );
  sandbox
    .command('load')
    .argument('[file]', 'JSON file with a fixture (default: the made-up one of this package)')
    .description('Adds a fixture to a sandbox, running or not, and updates what is there already.')
    .option('--state-url <url>', STATE_URL)
    .action(
      withParts<[string | undefined], { json?: boolean; stateUrl?: string }>(async ({ parts, output }, file, flags) => {
        const fixture = file === undefined ? defaultFixture() : await readJson(file, parseFixture);
        await explainingErrors(loadInto(await findStateUrl(parts.env, flags.stateUrl), fixture));
        output.note(`loaded ${quantity(fixture.tenants.length, 'tenant')} with their data`);
        return EXIT.done;
      }),
    );
}

/**
 * A JSON file's content as `parse` returns it. Throws `config_invalid` that names the file, whatever is wrong with it.
 */
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

/** Resolves on SIGINT or SIGTERM. */
const firstSignal = (): Promise<void> =>
  new Promise((resolve) => {
    onSignals((_, isFirst) => {
      if (!isFirst) process.exit(EXIT.interrupted);
      resolve();
    });
  });
