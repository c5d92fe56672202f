/** Doctor's check of the search attributes, by which Temporal's Web UI finds runs, and their registration. */
import type { Client } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../../domain/run/search-attributes.js';
import { attributeStates, registerAttributes } from '../../observability/search-attributes.js';
import { ok, skip, warn, type Examined } from './examination.js';

const NAME = 'attributes';

/** Registers missing attributes first if `fix` says so. */
export async function examineSearchAttributes(client: Client, fix: boolean): Promise<Examined[]> {
  try {
    const { registered, missing, mistyped } = await attributeStates(client);
    if (fix && missing.length > 0) await registerAttributes(client, missing);
    return [
      ...(mistyped.length === 0
        ? []
        : [
            warn(
              NAME,
              `the namespace has ${mistyped.join(', ')} with another type, so runs go without`,
              'remove them with "temporal operator search-attribute remove", then run doctor --fix',
            ),
          ]),
      missing.length === 0 || fix
        ? ok(NAME, fix && missing.length > 0 ? `registered ${missing.join(', ')}` : `${registered.length} of runs`)
        : warn(
            NAME,
            `the namespace lacks ${missing.join(', ')}, so runs cannot be searched by them`,
            `partner-sync doctor --fix, or: ${commandFor(client, missing)}`,
          ),
    ];
  } catch {
    return [
      skip(
        NAME,
        `cannot be listed or registered with this account: ${commandFor(client, Object.keys(SEARCH_ATTRIBUTES))}`,
      ),
    ];
  }
}

/** For accounts that may do more than ours. Temporal Cloud's tool is tcld, with the same names and types. */
const commandFor = (client: Client, names: readonly string[]): string =>
  [
    `temporal operator search-attribute create --namespace ${client.options.namespace}`,
    ...names.map((name) => `--name ${name} --type ${SEARCH_ATTRIBUTES[name]!}`),
  ].join(' ');
