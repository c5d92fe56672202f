/** The environment variables, declared once: configuration, help texts and .env.example derive from this table. */
import { readFile } from 'node:fs/promises';
import { PartnerSyncError } from '../domain/errors.js';
import { platformAddressProblem } from '../domain/platform-address.js';
import {
  durationWithin,
  headerName,
  headerWord,
  hostAndPort,
  oneOf,
  parameterName,
  postgresAddress,
  tenant,
  type Check,
} from './variable-checks.js';

interface Variable {
  readonly description: string;
  readonly example: string;
  readonly default?: string;
  /** Secrets may also come from the file that `<NAME>_FILE` names; it is read anew at each use. */
  readonly secret?: true;
  /** What is wrong with a value; it is said after the variable's name. */
  readonly check?: Check;
}

export const VARIABLES = {
  PARTNER_SYNC_STATE_URL: {
    description: 'PostgreSQL database of the ledger (schema partner_sync is created in it)',
    example: 'postgres://partner_sync:secret@127.0.0.1:5432/partner_sync',
    secret: true,
    check: postgresAddress,
  },
  PARTNER_SYNC_MAPPINGS: { description: 'folder of the syncs', example: './mappings', default: './mappings' },
  PARTNER_SYNC_TASK_QUEUE: {
    description: 'Temporal task queue that workers and triggers share',
    example: 'partner-sync',
    default: 'partner-sync',
  },
  PARTNER_SYNC_LOG_LEVEL: {
    description: 'trace, debug, info, warn, error or silent',
    example: 'info',
    default: 'info',
    check: oneOf('trace', 'debug', 'info', 'warn', 'error', 'silent'),
  },
  PLATFORM_BASE_URL: {
    description: "the platform's address; https, or http on this machine",
    example: 'https://platform.example.com',
    check: platformAddressProblem,
  },
  PLATFORM_TOKEN: { description: 'JWT of the platform account', example: 'eyJhbGciOi...', secret: true },
  PLATFORM_TOKEN_WAIT: {
    description:
      'how long requests wait for a renewed token in the file of PLATFORM_TOKEN_FILE after a 401; `0s`: not at all',
    example: '5m',
    default: '5m',
    // An activity has half an hour.
    check: durationWithin('0s', '20m'),
  },
  PLATFORM_TOKEN_SCOPE: {
    description: "`platform`, or `tenant` where PLATFORM_TOKEN is one tenant's own",
    example: 'platform',
    default: 'platform',
    check: oneOf('platform', 'tenant'),
  },
  PLATFORM_TENANT: {
    description: 'tenant that the `platform` commands act for unless `--tenant` names one',
    example: 'demo-shop',
    check: tenant,
  },
  PLATFORM_AUTH_HEADER: {
    description: 'header that carries the token',
    example: 'authorization',
    default: 'authorization',
    check: headerName,
  },
  PLATFORM_AUTH_SCHEME: {
    description: 'word before the token; `none`: the token alone',
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
    description: 'Temporal frontend; TEMPORAL_API_KEY, TEMPORAL_TLS_* and temporal.toml are obeyed too',
    example: '127.0.0.1:7233',
    check: hostAndPort,
  },
  TEMPORAL_NAMESPACE: { description: 'Temporal namespace', example: 'default', default: 'default' },
  SANDBOX_STATE_URL: {
    description: 'PostgreSQL database of the sandbox, if not PARTNER_SYNC_STATE_URL (sandbox only)',
    example: 'postgres://sandbox:secret@127.0.0.1:5432/sandbox',
    secret: true,
    check: postgresAddress,
  },
  SANDBOX_JWT_SECRET: {
    description: 'the sandbox signs and checks its tokens with it (sandbox only)',
    example: 'at-least-32-characters-of-randomness',
    secret: true,
  },
} as const satisfies Record<string, Variable>;

export type VariableName = keyof typeof VARIABLES;
export type Env = Readonly<Record<string, string | undefined>>;

/**
 * The value of a variable; for secrets also from the file that `<NAME>_FILE` names. Undefined where there is none.
 * Throws `config_invalid` naming the variable where its value cannot be right.
 */
export async function readVariable(env: Env, name: VariableName): Promise<string | undefined> {
  const value = await valueOf(env, name);
  assertRight(name, value, env[name] ? name : `the content of the file that ${name}_FILE names`);
  return value;
}

/** Throws `config_invalid`, naming `place`, where this cannot be a value of the variable. */
export function assertRight(name: VariableName, value: string | undefined, place: string = name): void {
  const { check }: Variable = VARIABLES[name];
  const problem = value === undefined || value === '' ? undefined : check?.(value);
  if (problem !== undefined) throw new PartnerSyncError('config_invalid', `${place} ${problem}`);
}

async function valueOf(env: Env, name: VariableName): Promise<string | undefined> {
  const variable: Variable = VARIABLES[name];
  const value = env[name];
  if (value !== undefined && value !== '') return value;
  const file = variable.secret ? env[`${name}_FILE`] : undefined;
  if (file === undefined || file === '') return variable.default;
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    throw new PartnerSyncError('config_invalid', `${name}_FILE names ${file}, which cannot be read (${code})`);
  }
}

/** Like {@link readVariable}, but throws `config_invalid` naming where it was looked for. */
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

/** The text of `.env.example`. */
export function environmentExample(): string {
  const blocks = Object.entries(VARIABLES).map(([name, variable]: [string, Variable]) => {
    const secret = variable.secret ? ` (or ${name}_FILE)` : '';
    const given =
      variable.default === undefined && !name.startsWith('SANDBOX_')
        ? `${name}=${variable.example}`
        : `# ${name}=${variable.default ?? variable.example}`;
    return `# ${variable.description}${secret}\n${given}\n`;
  });
  return `# Copy to .env; the command line reads it from the current folder. Generated from src/config/environment.ts.\n\n${blocks.join('\n')}`;
}
