/** Pushes the schema definitions of a sync, and remembers in the ledger what was pushed. */
import type { Env } from '../config/environment.js';
import { platformAddress } from '../config/platform-address.js';
import type { Actor } from '../domain/run/audit.js';
import type { DefinitionChange } from '../domain/records/definition-diff.js';
import { PartnerSyncError } from '../domain/errors.js';
import type { JsonObject, JsonValue } from '../domain/values/json.js';
import type { SchemaDefinitionFile, SyncSpec } from '../domain/sync/sync.js';
import type { SchemaIds } from '../ledger/mappings/schema-ids.js';
import type { PlatformClient } from '../platform/client.js';
import { pushDefinition } from './push-definition.js';
import { pushInOrder } from './push-in-order.js';
import { refusalOf } from './refused-definitions.js';
import { schemaStatuses, type SchemaStatus } from './schema-status.js';

/**
 * The outcome for one definition. `exists`: the platform had the name before the first push from here, so its content
 * is not known; `changed`: the file has changed since it was pushed, and nothing was sent.
 */
export interface PushResult {
  readonly schema: string;
  readonly action: 'created' | 'unchanged' | 'exists' | 'changed';
  readonly platformId: string;
}

/** The parts of a process that a push needs (src/composition). */
export interface PushParts {
  readonly env: Env;
  openSync(name: string): Promise<{ readonly spec: SyncSpec }>;
  ledger(): Promise<{ readonly schemaIds: SchemaIds }>;
  platform(): Promise<Pick<PlatformClient, 'createSchemaDefinition'>>;
}

/**
 * Creates the definitions that the platform does not have and records each in the ledger as soon as it is created, so
 * that an interrupted push continues where it stopped.
 *
 * Throws `config_invalid` before anything is sent if a file changes something immutable, and `platform_refused` with
 * all rejected definitions once all others are created. `note` receives lines about lost responses; `actor` is who
 * pushes, for the audit.
 */
export async function pushSchemas(
  parts: PushParts,
  name: string,
  note?: (line: string) => void,
  actor: Actor = { who: null, origin: 'cli' },
): Promise<PushResult[]> {
  const { spec } = await parts.openSync(name);
  const ledger = await parts.ledger();
  const platform = await parts.platform();
  const address = await platformAddress(parts.env);
  const pushed = await ledger.schemaIds.pushed(address);
  const statuses = schemaStatuses(spec, pushed);
  assertPossible(statuses);
  const results = new Map<string, PushResult>();
  const wanted: SchemaDefinitionFile[] = [];
  const hashes = new Map(statuses.map(({ definition, hash }) => [definition.name, hash]));
  for (const { definition, status, platformId } of statuses)
    if (status === 'new') wanted.push(definition);
    else {
      const unchanged = status === 'changed' ? 'changed' : 'unchanged';
      results.set(definition.name, { schema: definition.name, action: unchanged, platformId: platformId! });
    }
  const refused = await pushInOrder(wanted, pushed.keys(), async (definition) => {
    const outcome = await pushDefinition(platform, definition, note);
    const isOurs = outcome.kind === 'created';
    // The platform's paths accept the name as well as the id.
    const platformId = (isOurs ? outcome.id : null) ?? definition.name;
    const schema = {
      name: definition.name,
      platformId,
      // An empty hash marks a definition whose content on the platform is not known.
      definitionHash: isOurs ? hashes.get(definition.name)! : '',
      definition: isOurs ? (definition as unknown as JsonObject) : null,
    };
    await ledger.schemaIds.remember(address, schema, { sync: name, actor });
    results.set(definition.name, { schema: definition.name, action: isOurs ? 'created' : 'exists', platformId });
  });
  if (refused.length > 0) throw refusalOf(refused, wanted);
  return statuses.map(({ definition }) => results.get(definition.name)!);
}

/** Changes of what the platform never changes (section 2) are mistakes, found here before anything is sent. */
function assertPossible(statuses: readonly SchemaStatus[]): void {
  const lines = statuses.flatMap(({ definition, changes }) =>
    changes.filter((c) => c.immutable).map((change) => `${definition.name}: ${changeText(change)}`),
  );
  if (lines.length > 0)
    throw new PartnerSyncError(
      'config_invalid',
      `${lines.join('\n')}\nNothing was sent. Revert the change, or give the schema a new name`,
    );
}

/** What changed in a definition, in one line: the place, and the values before and now. */
export function changeText({ path, before, now, immutable }: DefinitionChange): string {
  const shown = (value: JsonValue | null): string => (value === null ? '(nothing)' : JSON.stringify(value));
  return `${path}: ${shown(before)} -> ${shown(now)}${immutable ? '  IMMUTABLE: the platform never changes it' : ''}`;
}
