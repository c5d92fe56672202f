/** The environment variables, declared once: validation, help texts and .env.example derive from this table. */
import { readFile } from 'node:fs/promises';
import { PartnerSyncError } from '../domain/errors.js';
import { platformAddressProblem } from '../domain/sync/platform-address.js';
import {
  buildId,
  consoleToken,
  deploymentName,
  durationWithin,
  headerName,
  headerWord,
  hostAndPort,
  mailAddress,
  mailServerAddress,
  networkHost,
  oneOf,
  parameterName,
  portNumber,
  positiveNumber,
  postgresAddress,
  tenant,
  shortText,
  sourceAddress,
  tenants,
  users,
  webAddress,
  wholeNumber,
  type Check,
} from './variable-checks.js';
import { durationText } from '../domain/timeouts.js';

/** The declaration of a variable. */
interface Variable {
  readonly description: string;
  readonly example: string;
  readonly default?: string;
  /** A secret may also come from the file that `<NAME>_FILE` names, which is read again at each use. */
  readonly secret?: true;
  /** Few set it: in .env.example it stands commented out. */
  readonly rare?: true;
  /** Validates a value; the problem it reports follows the variable's name in messages. */
  readonly check?: Check;
}

/** The variables that configure partner-sync and its sandbox. */
export const VARIABLES = {
  PARTNER_SYNC_STATE_URL: {
    description: 'PostgreSQL database of the ledger; partner-sync creates the schema partner_sync in it',
    example: 'postgres://partner_sync:secret@127.0.0.1:5432/partner_sync',
    secret: true,
    check: postgresAddress,
  },
  PARTNER_SYNC_MAPPINGS: { description: 'folder of the syncs', example: './mappings', default: './mappings' },
  PARTNER_SYNC_TASK_QUEUE: {
    description: 'Temporal task queue that workers and triggers share',
    example: 'partner-sync',
    default: 'partner-sync',
    check: shortText,
  },
  PARTNER_SYNC_LOG_LEVEL: {
    description: 'trace, debug, info, warn, error or silent',
    example: 'info',
    default: 'info',
    check: oneOf('trace', 'debug', 'info', 'warn', 'error', 'silent'),
  },
  PARTNER_SYNC_METRICS_PORT: {
    description: 'port on which a worker serves `/metrics`, `/live` and `/ready`; if not set, it serves nothing',
    example: '9464',
    rare: true,
    check: portNumber,
  },
  PARTNER_SYNC_METRICS_HOST: {
    description: 'address for this port; in a container `0.0.0.0`',
    example: '127.0.0.1',
    default: '127.0.0.1',
    check: networkHost,
  },
  PARTNER_SYNC_METRICS_LEDGER: {
    description: '`on`, or `off` on a worker that leaves the metrics read from the ledger to another one',
    example: 'on',
    default: 'on',
    check: oneOf('on', 'off'),
  },
  PARTNER_SYNC_METRICS_TENANTS: {
    description:
      'tenants whose rows, waiting records and dead letters are metrics of their own: up to 20, separated by commas',
    example: 'north,south',
    rare: true,
    check: tenants,
  },
  PARTNER_SYNC_TEMPORAL_METRICS_PORT: {
    description: "port on which Temporal's SDK serves its own metrics of a worker; if not set, it serves none",
    example: '9465',
    rare: true,
    check: portNumber,
  },
  PARTNER_SYNC_DATA_CONVERTER: {
    description: 'module that exports payload codecs for Temporal, for example to encrypt what Temporal stores',
    example: './codec.mjs',
    rare: true,
  },
  PARTNER_SYNC_WORKER_VERSIONING: {
    description:
      '`pinned` or `auto-upgrade`: the worker is a version of a Temporal Worker Deployment; runs stay on the version that they began on, or change to the current one',
    example: 'pinned',
    default: 'off',
    check: oneOf('off', 'pinned', 'auto-upgrade'),
  },
  PARTNER_SYNC_DEPLOYMENT_NAME: {
    description: 'name of the Worker Deployment; by default the name of the task queue',
    example: 'partner-sync',
    rare: true,
    check: deploymentName,
  },
  PARTNER_SYNC_BUILD_ID: {
    description: "the worker's version within its Worker Deployment; by default the version of the package",
    example: '0.1.0-2026-11-23',
    rare: true,
    check: buildId,
  },
  PARTNER_SYNC_SMTP_URL: {
    description:
      'mail server for `email` targets of `alerts`; `smtps` encrypts from the start, `smtp` if the server supports it',
    example: 'smtp://user:secret@mail.example.com:587',
    secret: true,
    rare: true,
    check: mailServerAddress,
  },
  PARTNER_SYNC_SMTP_FROM: {
    description: 'sender of these mails: an address, or a name and an address',
    example: 'partner-sync <alerts@example.com>',
    rare: true,
    check: mailAddress,
  },
  PARTNER_SYNC_TEMPORAL_UI_URL: {
    description: "address of Temporal's Web UI, to which the console links",
    example: 'http://127.0.0.1:8233',
    rare: true,
    check: webAddress,
  },
  PARTNER_SYNC_ACTOR: {
    description: 'who the audit says has run a command; by default the account and the machine',
    example: 'nightly-job',
    rare: true,
    check: shortText,
  },
  PARTNER_SYNC_CONSOLE_TOKEN: {
    description: 'whoever opens the console has to know it; at least 16 characters',
    example: 'at-least-16-characters-of-randomness',
    secret: true,
    rare: true,
    check: consoleToken,
  },
  PARTNER_SYNC_CONSOLE_URL: {
    description: "the console's own address, as browsers know it; needed for a login through a provider",
    example: 'https://partner-sync.example.com',
    rare: true,
    check: webAddress,
  },
  PARTNER_SYNC_CONSOLE_OIDC_ISSUER: {
    description: 'provider of OpenID Connect through which people log in to the console',
    example: 'https://login.example.com',
    rare: true,
    check: webAddress,
  },
  PARTNER_SYNC_CONSOLE_OIDC_CLIENT_ID: {
    description: "the console's name with this provider",
    example: 'partner-sync',
    rare: true,
  },
  PARTNER_SYNC_CONSOLE_OIDC_CLIENT_SECRET: {
    description: 'its secret with this provider',
    example: 'secret',
    secret: true,
    rare: true,
  },
  PARTNER_SYNC_CONSOLE_OIDC_USERS: {
    description: 'who may log in through the provider: mail addresses, or `@example.com` for everybody there',
    example: 'ana@example.com,@example.org',
    rare: true,
    check: users,
  },
  SOURCE_ADMIN_URL: {
    description:
      "database of the source with an account that `changes install --apply` and `changes remove --apply` may use; by default the sync's own connection",
    example: 'postgres://admin:secret@127.0.0.1:5432/shop',
    secret: true,
    rare: true,
    check: sourceAddress,
  },
  PLATFORM_BASE_URL: {
    description: "the platform's address; https, or http on this machine",
    example: 'https://platform.example.com',
    check: platformAddressProblem,
  },
  PLATFORM_TOKEN: { description: 'JWT of the platform account', example: 'eyJhbGciOi...', secret: true },
  PLATFORM_TOKEN_WAIT: {
    description:
      'how long requests wait after a 401 for a renewed token in the file that PLATFORM_TOKEN_FILE names; `0s`: not at all',
    example: '5m',
    default: durationText('tokenWait'),
    // The wait happens inside an activity, whose time limit is half an hour.
    check: durationWithin('0s', '20m'),
  },
  PLATFORM_TOKEN_SCOPE: {
    description: "`platform`, or `tenant` if PLATFORM_TOKEN is a single tenant's token",
    example: 'platform',
    default: 'platform',
    check: oneOf('platform', 'tenant'),
  },
  PLATFORM_TENANT: {
    description: 'tenant that the `platform` commands act for unless `--tenant` names one',
    example: 'demo-shop',
    check: tenant,
  },
  PLATFORM_REQUESTS_AT_ONCE: {
    description:
      'requests in flight at once with the account, of all syncs on all workers together; not set: only the limits of each sync',
    example: '16',
    rare: true,
    check: wholeNumber,
  },
  PLATFORM_REQUESTS_PER_SECOND: {
    description: 'requests per second with the account, across all syncs and workers',
    example: '20',
    rare: true,
    check: positiveNumber,
  },
  PLATFORM_AUTH_HEADER: {
    description: 'header that carries the token',
    example: 'authorization',
    default: 'authorization',
    check: headerName,
  },
  PLATFORM_AUTH_SCHEME: {
    description: 'word before the token; `none`: only the token',
    example: 'Bearer',
    default: 'Bearer',
    check: headerWord,
  },
  PLATFORM_PARAM_INCLUDE: {
    description: 'query parameter of 4.10 that lists references to resolve',
    example: 'include',
    default: 'include',
    check: parameterName,
  },
  PLATFORM_PARAM_REFERENCE_FORMAT: {
    description: 'query parameter of 4.10 that chooses the reference format',
    example: 'referenceFormat',
    default: 'referenceFormat',
    check: parameterName,
  },
  PLATFORM_PARAM_PENDING_DETAILS: {
    description: 'query parameter of 4.14 that adds pending details',
    example: 'includePendingDetails',
    default: 'includePendingDetails',
    check: parameterName,
  },
  TEMPORAL_ADDRESS: {
    description: 'Temporal frontend; TEMPORAL_API_KEY, TEMPORAL_TLS_* and temporal.toml are also respected',
    example: '127.0.0.1:7233',
    check: hostAndPort,
  },
  TEMPORAL_NAMESPACE: {
    description: 'Temporal namespace',
    example: 'default',
    default: 'default',
    check: shortText,
  },
  SANDBOX_STATE_URL: {
    description: 'PostgreSQL database of the sandbox, if not PARTNER_SYNC_STATE_URL (sandbox only)',
    example: 'postgres://sandbox:secret@127.0.0.1:5432/sandbox',
    secret: true,
    rare: true,
    check: postgresAddress,
  },
  SANDBOX_JWT_SECRET: {
    description: 'the sandbox signs and checks its tokens with it (sandbox only)',
    example: 'at-least-32-characters-of-randomness',
    secret: true,
    rare: true,
  },
} as const satisfies Record<string, Variable>;

/** The name of a declared variable. */
export type VariableName = keyof typeof VARIABLES;
/** Environment variables by name, as in `process.env`. */
export type Env = Readonly<Record<string, string | undefined>>;

/**
 * The value of a variable, for a secret also from the file that `<NAME>_FILE` names; its default if it is not set,
 * otherwise undefined.
 *
 * Throws `config_invalid` naming the variable if the value is not valid or the file cannot be read.
 */
export async function readVariable(env: Env, name: VariableName): Promise<string | undefined> {
  const value = await valueOf(env, name);
  assertValid(name, value, env[name] ? name : `the content of the file that ${name}_FILE names`);
  return value;
}

/**
 * Throws `config_invalid`, naming `place`, if the value is not valid for the variable. An absent or empty value
 * passes.
 */
export function assertValid(name: VariableName, value: string | undefined, place: string = name): void {
  const { check }: Variable = VARIABLES[name];
  const problem = value === undefined || value === '' ? undefined : check?.(value);
  if (problem !== undefined) throw new PartnerSyncError('config_invalid', `${place} ${problem}`);
}

/**
 * The value of any variable, unchecked. One that is not declared here may also come from a file, as a secret may. Throws
 * `config_invalid` if that file cannot be read.
 */
export async function valueOf(env: Env, name: string): Promise<string | undefined> {
  const declared: Readonly<Record<string, Variable>> = VARIABLES;
  const variable = Object.hasOwn(declared, name) ? declared[name] : undefined;
  const value = env[name];
  if (value !== undefined && value !== '') return value;
  const file = variable === undefined || variable.secret ? env[`${name}_FILE`] : undefined;
  if (file === undefined || file === '') return variable?.default;
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    throw new PartnerSyncError('config_invalid', `${name}_FILE names ${file}, which cannot be read (${code})`);
  }
}

/** Like {@link readVariable}, but throws `config_invalid` with an example if there is no value. */
export async function requireVariable(env: Env, name: VariableName): Promise<string> {
  const value = await readVariable(env, name);
  if (value !== undefined && value !== '') return value;
  const variable: Variable = VARIABLES[name];
  const places = variable.secret ? `${name} or ${name}_FILE` : name;
  throw new PartnerSyncError(
    'config_invalid',
    `${places} is not set: ${variable.description}. Example: ${name}=${variable.example}`,
  );
}

/** The content of `.env.example`. */
export const environmentFile = (): string =>
  `# Copy to .env; the command line reads it from the current folder. Generated from src/config/environment.ts.\n\n${environmentExample()}`;

/** Lines of an example `.env`, each variable under its description: of these variables, or of all. */
export function environmentExample(names: readonly VariableName[] = Object.keys(VARIABLES) as VariableName[]): string {
  const blocks = names.map((name) => {
    const variable: Variable = VARIABLES[name];
    const secret = variable.secret ? ` (or ${name}_FILE)` : '';
    const given =
      variable.default === undefined && variable.rare === undefined
        ? `${name}=${variable.example}`
        : `# ${name}=${variable.default ?? variable.example}`;
    return `# ${variable.description}${secret}\n${given}\n`;
  });
  return blocks.join('\n');
}
