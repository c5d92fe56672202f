/** `partner-sync schema push|diff`: a sync's schema definitions on the platform, which can create but not change one. */
import type { Command } from 'commander';
import type { LookingParts, Parts } from '../../compose.js';
import { requireVariable } from '../../config/environment.js';
import type { DefinitionChange } from '../../domain/definition-diff.js';
import { PartnerSyncError } from '../../domain/errors.js';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import type { SchemaDefinitionFile } from '../../domain/sync.js';
import { action, EXIT, look } from '../command-context.js';
import { pushDefinition } from '../push-definition.js';
import { pushInTurns } from '../push-in-turns.js';
import { refusalOf } from '../refused-definitions.js';
import { schemaStandings, type SchemaStanding, type Standing } from '../schema-standing.js';
import { printable, table } from '../table.js';

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
      '\nExample:\n  partner-sync schema push online-retail\n\nExit codes: 0 all there; 1 the platform refused one, or a file changed after it was pushed; 2 wrong usage or configuration',
    )
    .action(
      action<[string], { json?: boolean }>(async ({ parts, output }, name) => {
        const results = await pushSchemas(parts, name, (line) => output.note(line));
        output.result({ sync: name, schemas: results }, () =>
          table(
            ['schema', 'result', 'id'],
            results.map((r) => [r.schema, WORDS[r.action], r.platformId]),
          ),
        );
        return results.some((r) => r.action === 'changed') ? EXIT.failed : EXIT.done;
      }),
    );
  schema
    .command('diff')
    .description(
      'Compares the schema definition files with what was pushed, place by place, as the ledger remembers it: the platform has no call to ask. Sends and writes nothing.',
    )
    .argument('<sync>', 'folder in the mappings folder')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExample:\n  partner-sync schema diff online-retail\n\nExit codes: 0 all as pushed; 1 something is new or changed; 2 wrong usage or configuration',
    )
    .action(
      look<[string], { json?: boolean }>(async ({ parts, output }, name) => {
        const standings = await standingsOf(parts, name);
        const differ = standings.filter((s) => s.standing === 'new' || s.standing === 'changed').length;
        output.result(
          {
            sync: name,
            schemas: standings.map(({ definition, standing, platformId, changes }) => ({
              schema: definition.name,
              standing,
              platformId,
              changes,
            })),
          },
          () => [
            ...standings.flatMap(standingLines),
            '',
            `${differ} of ${standings.length} differ from what was pushed. Nothing was sent.`,
          ],
        );
        return differ > 0 ? EXIT.failed : EXIT.done;
      }),
    );
}

const WORDS: Record<PushResult['action'], string> = {
  created: 'created',
  unchanged: 'is there already',
  exists: 'was there before us; its content is not known here',
  changed: 'CHANGED since it was pushed; the platform cannot change it: give it a new name',
};

const SIGNS: Record<Standing, string> = {
  new: '+ not pushed yet',
  unchanged: '= as it was pushed',
  changed: '~ changed since it was pushed',
  foreign: '? was on the platform before us; its content is not known here',
};

const standingLines = ({ definition, standing, changes }: SchemaStanding): string[] => [
  `${definition.name}  ${SIGNS[standing]}`,
  ...changes.map((change) => `    ${changeLine(change)}`),
];

function changeLine({ path, before, now, immutable }: DefinitionChange): string {
  const shown = (value: JsonValue | null): string => (value === null ? '(nothing)' : JSON.stringify(value));
  return printable(`${path}: ${shown(before)} -> ${shown(now)}${immutable ? '  IMMUTABLE: can never be changed' : ''}`);
}

async function standingsOf(parts: LookingParts, name: string): Promise<SchemaStanding[]> {
  const { spec } = await parts.openSync(name);
  const address = await requireVariable(parts.env, 'PLATFORM_BASE_URL');
  const ledger = await parts.ledgerIfAny();
  return schemaStandings(spec, (await ledger?.schemaIds.pushed(address)) ?? new Map());
}

/**
 * Throws `config_invalid`, before anything is sent, where a file changes what the platform never changes; and
 * `platform_refused` with all that the platform refused, once it has all that it takes.
 */
export async function pushSchemas(parts: Parts, name: string, note?: (line: string) => void): Promise<PushResult[]> {
  const { spec } = await parts.openSync(name);
  const ledger = await parts.ledger();
  const platform = await parts.platform();
  const address = await requireVariable(parts.env, 'PLATFORM_BASE_URL');
  const pushed = await ledger.schemaIds.pushed(address);
  const standings = schemaStandings(spec, pushed);
  assertPossible(standings);
  const results = new Map<string, PushResult>();
  const wanted: SchemaDefinitionFile[] = [];
  const hashes = new Map(standings.map(({ definition, hash }) => [definition.name, hash]));
  for (const { definition, standing, platformId } of standings)
    if (standing === 'new') wanted.push(definition);
    else {
      const unchanged = standing === 'changed' ? 'changed' : 'unchanged';
      results.set(definition.name, { schema: definition.name, action: unchanged, platformId: platformId! });
    }
  const refused = await pushInTurns(wanted, pushed.keys(), async (definition) => {
    const outcome = await pushDefinition(platform, definition, note);
    const ours = outcome.kind === 'created';
    // Where it is not known, the name does: the platform's paths take either.
    const platformId = (ours ? outcome.id : null) ?? definition.name;
    await ledger.schemaIds.remember(address, {
      ...{ name: definition.name, platformId },
      definitionHash: ours ? hashes.get(definition.name)! : '',
      definition: ours ? (definition as unknown as JsonObject) : null,
    });
    results.set(definition.name, { schema: definition.name, action: ours ? 'created' : 'exists', platformId });
  });
  if (refused.length > 0) throw refusalOf(refused, wanted);
  return standings.map(({ definition }) => results.get(definition.name)!);
}

function assertPossible(standings: readonly SchemaStanding[]): void {
  const lines = standings.flatMap(({ definition, changes }) =>
    changes.filter((c) => c.immutable).map((change) => `${definition.name}: ${changeLine(change)}`),
  );
  if (lines.length > 0)
    throw new PartnerSyncError(
      'config_invalid',
      `${lines.join('\n')}\nNothing was sent. Put it back, or give the schema a new name`,
    );
}
