/**
 * `partner-sync console`: serves web pages about syncs, runs and records for people who run them.
 *
 * Reads the ledger, and for some pages the source, the platform and Temporal. It writes nothing unless it was started with
 * `--allow-actions`: then people can do on its pages what commands do, and each action is such a command. Runs until a
 * signal, or until npm is gone if npm has started it. Exit codes: 0 ended by a signal, 1 failed, 2 wrong usage or configuration, which includes an address that others
 * can reach without a login.
 */
import { join } from 'node:path';
import type { Command } from 'commander';
import { readVariable, requireVariable, type Env } from '../../config/environment.js';
import { ENGINE_OPTIONS } from '../../config/engine-flags.js';
import { compose } from '../../composition/compose.js';
import { openJobs } from '../../console/actions/jobs.js';
import type { ConsoleSettings, LoginSettings } from '../../console/console-settings.js';
import { isLoopback } from '../../console/security.js';
import { serveConsole } from '../../console/server.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { temporalTarget } from '../../worker/temporal-connection.js';
import { announces } from '../announce.js';
import { port } from '../arguments.js';
import { EXIT, withViewParts } from '../command-context.js';
import { packageRoot } from '../../config/package-root.js';
import { startedBy } from '../actor.js';
import { untilAskedToEnd } from '../until-asked-to-end.js';

interface ConsoleFlags {
  readonly json?: boolean;
  readonly port: number;
  readonly host: string;
  readonly allowActions?: boolean;
  readonly allowHost?: string[];
  readonly showValues?: boolean;
}

export function addConsole(program: Command): void {
  program
    .command('console')
    .summary('serve web pages about syncs, runs and records')
    .description(
      'Serves web pages about syncs, runs, dead letters and records. Read-only, and only for this machine, unless told otherwise.',
    )
    .option('--port <number>', '0 takes a free port', port, 8088)
    .option('--host <address>', 'address to listen on; another than this machine needs a login', '127.0.0.1')
    .option('--allow-actions', 'let people start, pause, approve and replay')
    .option('--allow-host <name...>', 'names by which browsers ask for the console, such as those of a proxy')
    .option('--show-values', 'show the values of rows and records where they would be masked')
    .addHelpText(
      'after',
      '\nExamples:\n  partner-sync console\n  partner-sync console --port 9000 --allow-actions\n\nPARTNER_SYNC_CONSOLE_TOKEN or the PARTNER_SYNC_CONSOLE_OIDC_ variables make people log in.\n\nExit codes: 0 ended by a signal; 1 failed; 2 wrong usage or configuration',
    )
    .hook(
      'preAction',
      announces(() => 'starting the console ...'),
    )
    .action(
      withViewParts<[], ConsoleFlags>(async ({ parts, output }, flags) => {
        const settings = await settingsOf(parts.env, flags);
        const main = join(packageRoot(), 'dist', 'src', 'cli', 'main.js');
        // Writes to the ledger only what actions leave in the audit, so it is opened with the first of them.
        const writing = compose(parts.env);
        const server = await serveConsole(settings, {
          views: parts,
          actions: {
            jobs: openJobs([process.execPath, ...ENGINE_OPTIONS, main], { ...process.env, ...parts.env }),
            audit: async (entry) => (await writing.ledger()).audit.add(entry),
            operator: startedBy(),
          },
        });
        output.note(`console ready at ${server.url}${settings.login === null ? '' : ' (people have to log in)'}`);
        await untilAskedToEnd();
        await server.close();
        await writing.close();
        return EXIT.done;
      }),
    );
}

/** What the flags and the environment say together. Throws `config_invalid`. */
async function settingsOf(env: Env, flags: ConsoleFlags): Promise<ConsoleSettings> {
  const { host, allowActions = false, showValues = false, allowHost = [] } = flags;
  const login = await loginOf(env);
  if (login === null && !isLoopback(host))
    throw new PartnerSyncError(
      'config_invalid',
      `--host ${host} lets others reach the console, so people have to log in: set PARTNER_SYNC_CONSOLE_TOKEN, or PARTNER_SYNC_CONSOLE_OIDC_ISSUER and what belongs to it`,
    );
  const consoleUrl = await readVariable(env, 'PARTNER_SYNC_CONSOLE_URL');
  const ownName = consoleUrl === undefined ? [] : [new URL(consoleUrl).hostname];
  return {
    host,
    port: flags.port,
    allowActions,
    showValues,
    login,
    allowedHosts: [...allowHost, ...ownName],
    temporalUi: (await readVariable(env, 'PARTNER_SYNC_TEMPORAL_UI_URL')) ?? null,
    temporalNamespace: temporalTarget(env).namespace,
  };
}

async function loginOf(env: Env): Promise<LoginSettings> {
  const [token, issuer] = [
    await readVariable(env, 'PARTNER_SYNC_CONSOLE_TOKEN'),
    await readVariable(env, 'PARTNER_SYNC_CONSOLE_OIDC_ISSUER'),
  ];
  if (token !== undefined && issuer !== undefined)
    throw new PartnerSyncError(
      'config_invalid',
      'PARTNER_SYNC_CONSOLE_TOKEN and PARTNER_SYNC_CONSOLE_OIDC_ISSUER cannot both be set: choose how people log in',
    );
  if (token !== undefined)
    return { kind: 'token', token, consoleUrl: await readVariable(env, 'PARTNER_SYNC_CONSOLE_URL') };
  if (issuer === undefined) return null;
  const users = await requireVariable(env, 'PARTNER_SYNC_CONSOLE_OIDC_USERS');
  return {
    kind: 'oidc',
    oidc: {
      issuer,
      clientId: await requireVariable(env, 'PARTNER_SYNC_CONSOLE_OIDC_CLIENT_ID'),
      clientSecret: await requireVariable(env, 'PARTNER_SYNC_CONSOLE_OIDC_CLIENT_SECRET'),
      consoleUrl: await requireVariable(env, 'PARTNER_SYNC_CONSOLE_URL'),
      users: users.split(',').map((user) => user.trim()),
    },
  };
}
