/**
 * Runs one operation of the platform for the command line: makes the input from options, calls, and prints the result.
 */
import { PartnerSyncError } from '../../domain/errors.js';
import type { Operation } from '../../platform/contract/operation.js';
import type { OperationName } from '../../platform/contract/operations.js';
import type { ListName } from '../../platform/lists.js';
import type { CallInput } from '../../platform/client.js';
import { readVariable } from '../../config/environment.js';
import { EXIT, type CommandContext } from '../command-context.js';
import { fieldsFrom, jsonOf } from './flags.js';
import { responseLines, listLines } from './show.js';
import { withPlatformMessage } from './with-platform-message.js';

/** The options of an operation's command: those below, and one for each field of its query and body. */
export interface OperationFlags {
  readonly [flag: string]: unknown;
  readonly json?: boolean;
  readonly tenant?: string;
  readonly data?: string;
  readonly all?: boolean;
}

/**
 * Calls the operation and prints the response; returns the exit code. `args` are the path parameters in the contract's
 * order. `--all` fetches every page and prints one. Throws `input_invalid` for a body that is not an object or a
 * missing tenant, and errors of the platform with its message.
 */
export async function runOperation(
  { parts, output }: CommandContext,
  [name, operation]: readonly [OperationName, Operation],
  args: readonly string[],
  flags: OperationFlags,
): Promise<number> {
  const tenant = await tenantOf(parts.env, operation, flags);
  const input = {
    ...(tenant === undefined ? {} : { tenant }),
    params: Object.fromEntries(Object.keys(operation.params.properties).map((param, i) => [param, args[i]])),
    query: await fieldsFrom(operation.query, flags),
    ...(operation.body === null ? {} : { body: await bodyOf(operation.body, flags) }),
    // In interactive use an error is shown at once instead of being retried.
    once: true,
  } as CallInput<OperationName>;
  const platform = await parts.platform();
  try {
    const data: unknown =
      flags.all === true
        ? await whole(platform.pages(name as ListName, input), operation)
        : await platform.call(name, input);
    output.result({ data }, () =>
      operation.pages === undefined ? responseLines(data) : listLines(data as Record<string, unknown>, operation.pages),
    );
    // The response of a flat operation has no envelope; it reports success in a field of its own.
    return operation.flat && (data as { success: boolean }).success === false ? EXIT.failed : EXIT.done;
  } catch (error) {
    throw withPlatformMessage(error);
  }
}

/** All entries of a list, in the form of its only page: with what the first page says besides, such as a count. */
async function whole(pages: AsyncIterable<Record<string, unknown>>, operation: Operation): Promise<unknown> {
  const { entries } = operation.pages!;
  let first: Record<string, unknown> | undefined;
  const all: unknown[] = [];
  for await (const page of pages) {
    first ??= page;
    for (const entry of page[entries] as unknown[]) all.push(entry);
  }
  return { ...first, [entries]: all, pagination: { hasNextPage: false, cursor: null, total: all.length } };
}

/**
 * The tenant that a call acts for: `--tenant`, otherwise PLATFORM_TENANT if the operation needs one; undefined if it
 * acts for none. With a tenant's own token, the platform knows the tenant. Throws `input_invalid` if one is needed and
 * not named.
 */
export async function tenantOf(
  env: CommandContext['parts']['env'],
  { scope }: Operation,
  { tenant }: OperationFlags,
): Promise<string | undefined> {
  if (tenant !== undefined || scope !== 'tenant') return tenant;
  const standard = await readVariable(env, 'PLATFORM_TENANT');
  if (standard === undefined && (await readVariable(env, 'PLATFORM_TOKEN_SCOPE')) !== 'tenant')
    throw new PartnerSyncError('input_invalid', 'no tenant: use --tenant <id> or set PLATFORM_TENANT');
  return standard;
}

/** The body of `--data`, in which options for single fields replace those of the same name. */
async function bodyOf(fields: NonNullable<Operation['body']>, flags: OperationFlags): Promise<object> {
  const data = flags.data === undefined ? {} : await jsonOf('--data', flags.data);
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw new PartnerSyncError('input_invalid', '--data: expected a JSON object');
  return { ...data, ...(await fieldsFrom(fields, flags)) };
}
