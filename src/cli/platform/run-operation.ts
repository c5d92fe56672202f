/** Runs one operation for the command line: input from flags, the call, the answer in the form that was asked for. */
import { PartnerSyncError } from '../../domain/errors.js';
import type { Operation } from '../../platform/contract/operation.js';
import type { OperationName } from '../../platform/contract/operations.js';
import type { ListName } from '../../platform/lists.js';
import type { CallInput } from '../../platform/client.js';
import { readVariable } from '../../config/environment.js';
import { EXIT, type CommandContext } from '../command-context.js';
import { fieldsFrom, jsonOf } from './flags.js';
import { answerLines, listLines } from './show.js';
import { told } from './told.js';

export interface OperationFlags {
  readonly [flag: string]: unknown;
  readonly json?: boolean;
  readonly tenant?: string;
  readonly data?: string;
  readonly all?: boolean;
}

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
    // Somebody sits before the screen: what is wrong is said at once.
    once: true,
  } as CallInput<OperationName>;
  const platform = await parts.platform();
  try {
    const data: unknown =
      flags.all === true
        ? await whole(platform.each(name as ListName, input), operation)
        : await platform.call(name, input);
    output.result({ data }, () =>
      operation.pages === undefined ? answerLines(data) : listLines(data as Record<string, unknown>, operation.pages),
    );
    // A flat answer tells of success by a field of its own.
    return operation.flat && (data as { success: boolean }).success === false ? EXIT.failed : EXIT.done;
  } catch (error) {
    throw told(error);
  }
}

/** All entries in the form of one page. */
async function whole(entries: AsyncIterable<unknown>, { pages }: Operation): Promise<unknown> {
  const all: unknown[] = [];
  for await (const entry of entries) all.push(entry);
  return { [pages!.entries]: all, pagination: { hasNextPage: false, cursor: null, total: all.length } };
}

/** The tenant that a call acts for, or undefined where it acts for none. */
export async function tenantOf(
  env: CommandContext['parts']['env'],
  { scope }: Operation,
  { tenant }: OperationFlags,
): Promise<string | undefined> {
  if (tenant !== undefined || scope !== 'tenant') return tenant;
  const standard = await readVariable(env, 'PLATFORM_TENANT');
  if (standard === undefined && (await readVariable(env, 'PLATFORM_TOKEN_SCOPE')) !== 'tenant')
    throw new PartnerSyncError('input_invalid', 'no tenant: give --tenant <id> or PLATFORM_TENANT');
  return standard;
}

async function bodyOf(fields: NonNullable<Operation['body']>, flags: OperationFlags): Promise<object> {
  const data = flags.data === undefined ? {} : await jsonOf('--data', flags.data);
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw new PartnerSyncError('input_invalid', '--data: expected a JSON object');
  return { ...data, ...(await fieldsFrom(fields, flags)) };
}
