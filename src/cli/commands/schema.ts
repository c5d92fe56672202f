/** `partner-sync schema push`: creates a sync's schema definitions on the platform and remembers their ids. */
import { createHash } from 'node:crypto';
import type { Command } from 'commander';
import type { Parts } from '../../compose.js';
import { requireVariable } from '../../config/environment.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { referencesOf } from '../../domain/references.js';
import type { SchemaDefinitionFile } from '../../domain/sync.js';
import { stagesOf } from '../../mapping/stages.js';
import { action, EXIT } from '../command-context.js';
import { table } from '../table.js';

export interface PushResult {
  readonly schema: string;
  readonly action: 'created' | 'unchanged' | 'exists' | 'changed';
  readonly platformId: string;
}

export function addSchema(program: Command): void {
  const schema = program.command('schema').summary('schema definitions on the platform');
  schema
    .command('push')
    .description(
      'Creates the schema definitions that the platform does not have yet. It has no call to change one: a file that changed since is reported, and nothing is sent for it.',
    )
    .argument('<sync>', 'folder in the mappings folder')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExample:\n  partner-sync schema push online-retail\n\nExit codes: 0 all there; 1 a file changed after it was pushed; 2 wrong usage or configuration',
    )
    .action(
      action<[string], { json?: boolean }>(async ({ parts, output }, name) => {
        const results = await pushSchemas(parts, name);
        output.result({ sync: name, schemas: results }, () => [
          ...table(
            ['schema', 'result', 'id'],
            results.map((r) => [r.schema, WORDS[r.action], r.platformId]),
          ),
        ]);
        return results.some((r) => r.action === 'changed') ? EXIT.failed : EXIT.done;
      }),
    );
}

const WORDS: Record<PushResult['action'], string> = {
  created: 'created',
  unchanged: 'is there already',
  exists: 'was there before us; its content is not known here',
  changed: 'CHANGED since it was pushed; the platform cannot change it: give it a new name',
};

export async function pushSchemas(parts: Parts, name: string): Promise<PushResult[]> {
  const { spec } = await parts.openSync(name);
  const ledger = await parts.ledger();
  const platform = await parts.platform();
  const address = await requireVariable(parts.env, 'PLATFORM_BASE_URL');
  const pushed = await ledger.schemaIds.pushed(address);
  const results: PushResult[] = [];
  for (const definition of parentsFirst(spec.mappings.map((m) => m.schema))) {
    const definitionHash = createHash('sha256').update(JSON.stringify(definition)).digest('hex');
    const known = pushed.get(definition.name);
    if (known !== undefined) {
      const same = known.definitionHash === definitionHash || known.definitionHash === '';
      results.push({ schema: definition.name, action: same ? 'unchanged' : 'changed', platformId: known.platformId });
      continue;
    }
    const created = await create(platform, definition);
    await ledger.schemaIds.remember(address, {
      name: definition.name,
      platformId: created ?? definition.name,
      definitionHash: created === null ? '' : definitionHash,
    });
    results.push({
      schema: definition.name,
      action: created === null ? 'exists' : 'created',
      platformId: created ?? definition.name,
    });
  }
  return results;
}

/** The new definition's id; null where the name is taken, since there is no call to ask whose it is. */
async function create(
  platform: Awaited<ReturnType<Parts['platform']>>,
  definition: SchemaDefinitionFile,
): Promise<string | null> {
  try {
    // The file is checked against the language's schema, which is stricter than the contract's body.
    return (await platform.createSchemaDefinition(definition as Parameters<typeof platform.createSchemaDefinition>[0]))
      .id;
  } catch (error) {
    if (error instanceof PartnerSyncError && error.details['status'] === 409) return null;
    throw error;
  }
}

function parentsFirst(definitions: readonly SchemaDefinitionFile[]): SchemaDefinitionFile[] {
  const byName = new Map(definitions.map((d) => [d.name, d]));
  const nodes = [...byName.values()].map((d) => ({
    name: d.name,
    refs: referencesOf(d.schema)
      .map((r) => r.schemaName)
      .filter((r) => byName.has(r)),
  }));
  return stagesOf(nodes)
    .flat()
    .map((schemaName) => byName.get(schemaName)!);
}
