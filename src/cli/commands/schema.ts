/**
 * `partner-sync schema push` and `diff`: the schema definitions of a sync, which the platform can create (4.4) but has
 * no call to change or to read.
 *
 * `push` reads the sync's files, calls the platform, and writes to the ledger what it created; it also creates the
 * ledger. `diff` compares the files with the ledger and calls nobody. Neither needs Temporal or the source. Exit codes
 * of `push`: 0 all are on the platform, 1 one was rejected or has changed since it was pushed, 2 wrong usage or
 * configuration. Of `diff`: 0 all as pushed, 1 some are new or changed, 2 wrong usage or configuration.
 */
import type { Command } from 'commander';
import type { ViewParts } from '../../composition/parts.js';
import { platformAddress } from '../../config/platform-address.js';
import { quantity } from '../../domain/values/quantity.js';
import { withParts, EXIT, withViewParts } from '../command-context.js';
import { thisCommand } from '../actor.js';
import { changeText, pushSchemas, type PushResult } from '../../schema-push/push-schemas.js';
import { schemaStatuses, type SchemaStatus, type Status } from '../../schema-push/schema-status.js';
import { printable, table } from '../output/text-table.js';

export function addSchema(program: Command): void {
  const schema = program.command('schema');
  schema
    .command('push')
    .description(
      'Creates the schema definitions that the platform does not have yet. Definitions cannot be changed there: a file that has changed since it was pushed is reported, and nothing is sent for it.',
    )
    .argument('<sync>', 'folder in the mappings folder')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExample:\n  partner-sync schema push online-retail\n\nExit codes: 0 all are on the platform; 1 the platform rejected one, or a file changed after it was pushed; 2 wrong usage or configuration',
    )
    .action(
      withParts<[string], { json?: boolean }>(async ({ parts, output }, name) => {
        const results = await pushSchemas(parts, name, (line) => output.note(line), thisCommand());
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
      'Compares the schema definition files with what the ledger recorded when they were pushed; the platform has no call to read them. Sends and writes nothing.',
    )
    .argument('<sync>', 'folder in the mappings folder')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExample:\n  partner-sync schema diff online-retail\n\nExit codes: 0 all as pushed; 1 some are new or changed; 2 wrong usage or configuration',
    )
    .action(
      withViewParts<[string], { json?: boolean }>(async ({ parts, output }, name) => {
        const statuses = await statusesOf(parts, name);
        const differ = statuses.filter((s) => s.status === 'new' || s.status === 'changed').length;
        output.result(
          {
            sync: name,
            schemas: statuses.map(({ definition, status, platformId, changes }) => ({
              schema: definition.name,
              status,
              platformId,
              changes,
            })),
          },
          () => [
            ...statuses.flatMap(statusLines),
            '',
            `${differ} of ${quantity(statuses.length, 'schema definition')} ${differ === 1 ? 'differs' : 'differ'} from what was pushed. Nothing was sent.`,
          ],
        );
        return differ > 0 ? EXIT.failed : EXIT.done;
      }),
    );
}

const WORDS: Record<PushResult['action'], string> = {
  created: 'created',
  unchanged: 'already pushed',
  exists: 'existed before; its content is not known here',
  changed: 'CHANGED since it was pushed; the platform cannot change it: give the schema a new name',
};

const SIGNS: Record<Status, string> = {
  new: '+ not pushed yet',
  unchanged: '= as it was pushed',
  changed: '~ changed since it was pushed',
  foreign: '? existed on the platform before; its content is not known here',
};

const statusLines = ({ definition, status, changes }: SchemaStatus): string[] => [
  `${definition.name}  ${SIGNS[status]}`,
  ...changes.map((change) => `    ${printable(changeText(change))}`),
];

/** Without a ledger, nothing was pushed from here, so all definitions are new. */
async function statusesOf(parts: ViewParts, name: string): Promise<SchemaStatus[]> {
  const { spec } = await parts.openSync(name);
  const address = await platformAddress(parts.env);
  const ledger = await parts.ledgerIfAny();
  return schemaStatuses(spec, (await ledger?.schemaIds.pushed(address)) ?? new Map());
}
