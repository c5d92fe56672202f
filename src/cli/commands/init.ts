/** `partner-sync init`: looks at a database and writes a first sync for it. */
import { join } from 'node:path';
import type { Command } from 'commander';
import { PartnerSyncError } from '../../domain/errors.js';
import { isSyncName, isTenantId, SYNC_NAME_PATTERN, TENANT_ID_PATTERN } from '../../domain/names.js';
import { dialectOf, SOURCE_ADDRESSES } from '../../domain/source-address.js';
import type { SourceConfig } from '../../domain/sync.js';
import { chosenTables } from '../../init/choose-tables.js';
import { DECIDE } from '../../init/draft.js';
import { draftSync } from '../../init/draft-sync.js';
import { definitionFile, mappingFile, syncFile, type DraftedFile } from '../../init/write-files.js';
import { assertFree, writeFolder } from '../../init/write-folder.js';
import { guessZone } from '../../init/guess-zone.js';
import { listSyncs, readSyncFolder } from '../../mapping/sync-folder.js';
import { openSource } from '../../source/open-source.js';
import { EXIT, look } from '../command-context.js';
import { table } from '../table.js';

interface InitFlags {
  json?: boolean;
  source: string;
  table?: string[];
  tenant?: string;
}

export function addInit(program: Command): void {
  program
    .command('init')
    .summary('write a first sync for a database')
    .description(
      'Looks at the tables, keys, foreign keys, types and comments of a database, and writes mappings and schema definitions for it, with comments that say what to decide. The database is only read; files that exist are left alone.',
    )
    .argument('<name>', 'name of the new sync: a folder in the mappings folder')
    .requiredOption('--source <address>', "the database's URL, or the name of the environment variable that holds it")
    .option('--table <name...>', 'only these tables (views too, if they have a key)')
    .option('--tenant <id>', 'the tenant on the platform that all rows belong to')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  partner-sync init shop --source SHOP_URL\n  partner-sync init shop --source postgres://reader@db.example.com/shop --table shop.customers shop.orders\n\nExit codes: 0 written; 1 failed; 2 wrong usage or configuration',
    )
    .action(
      look<[string], InitFlags>(async ({ parts, output }, name, flags) => {
        if (!isSyncName(name))
          throw new PartnerSyncError('input_invalid', `a sync's name must match ${SYNC_NAME_PATTERN}; got "${name}"`);
        if (flags.tenant !== undefined && !isTenantId(flags.tenant))
          throw new PartnerSyncError('input_invalid', `a tenant's id must match ${TENANT_ID_PATTERN}`);
        const folder = await parts.mappingsFolder();
        await assertFree(folder, name);
        const { address, variable } = addressOf(flags.source, name, parts.env);
        const taken = await schemasOfOthers(folder);
        const { files, keyless } = await draftFiles({
          ...{ name, address, variable, taken },
          tables: flags.table,
          tenant: flags.tenant ?? null,
        });
        await writeFolder(folder, name, files);
        const decisions = files.map((file) => ({ file: join(folder, name, file.name), decisions: countOf(file) }));
        const steps = [
          ...(parts.env[variable] === undefined
            ? [`put ${variable}=<the database's URL> into .env, or export it`]
            : []),
          ...(flags.tenant === undefined ? [`fill in tenant in sync.yaml`] : []),
          ...(decisions.some((d) => d.decisions > 0)
            ? [`look at the lines with ${DECIDE} grep -n '${DECIDE}' ${join(folder, name)}/*`]
            : []),
          `partner-sync check ${name}`,
          `partner-sync preview ${name}`,
        ];
        output.result({ sync: name, variable, files: decisions, leftOut: keyless, next: steps }, () => [
          ...table(
            ['file', 'to decide'],
            decisions.map((d) => [d.file, d.decisions]),
          ),
          '',
          ...(keyless.length === 0
            ? []
            : [
                `Left out, without a key that can name a record: ${keyless.join(', ')}; sync.yaml says what to do.`,
                '',
              ]),
          'Written. Nothing was sent. Next:',
          ...steps.map((step, i) => `  ${i + 1}. ${step}`),
        ]);
        return EXIT.done;
      }),
    );
}

/** Never the address itself in a file: it may hold a password. */
function addressOf(given: string, sync: string, env: Readonly<Record<string, string | undefined>>) {
  const variable = /^[A-Z_][A-Z0-9_]*$/.test(given) ? given : null;
  if (variable === null) return { address: given, variable: `${sync.toUpperCase().replaceAll('-', '_')}_URL` };
  const address = env[variable];
  if (address === undefined || address === '')
    throw new PartnerSyncError('config_invalid', `${variable} is not set: it is to hold the database's URL`);
  return { address, variable };
}

interface DraftInput {
  readonly name: string;
  readonly address: string;
  readonly variable: string;
  readonly tables: readonly string[] | undefined;
  readonly tenant: string | null;
  readonly taken: ReadonlyMap<string, string>;
}

async function draftFiles(input: DraftInput): Promise<{ files: DraftedFile[]; keyless: string[] }> {
  const { name, address, variable, tenant, taken } = input;
  const config = configOf(address);
  const source = openSource(config);
  try {
    const server = await source.server();
    const tables = chosenTables(await source.tables(), input.tables);
    const dynamic = server.product === 'SQLite';
    const draft = await draftSync(source, { name, tables, zone: guessZone(server), dynamic, taken });
    if (draft.mappings.length === 0)
      throw new PartnerSyncError(
        'config_invalid',
        `none of ${tables.length} tables has a primary key; nothing was written`,
      );
    const files = [
      syncFile({ ...draft, product: `${server.product} ${server.version}`, variable, tenant }),
      ...draft.mappings.flatMap((mapping) => [mappingFile(mapping), definitionFile(mapping)]),
    ];
    return { files, keyless: draft.keyless.map((t) => t.table) };
  } finally {
    await source.close();
  }
}

function configOf(address: string): SourceConfig {
  if (dialectOf(address) === undefined)
    throw new PartnerSyncError(
      'config_invalid',
      `--source must be a URL such as ${SOURCE_ADDRESSES}, or the name of a variable in capitals that holds one; ${schemeShown(address)}`,
    );
  return { connection: address, poolMax: 2, statementTimeout: 30 };
}

function schemeShown(address: string): string {
  const scheme = /^[a-z0-9]+:/i.exec(address)?.[0].toLowerCase();
  return scheme === undefined ? 'what came has no scheme' : `"${scheme}" is not known`;
}

async function schemasOfOthers(folder: string): Promise<Map<string, string>> {
  const taken = new Map<string, string>();
  for (const sync of await listSyncs(folder))
    for (const schema of (await readSyncFolder(folder, sync)).definitions.keys()) taken.set(schema, sync);
  return taken;
}

const countOf = ({ text }: DraftedFile): number => text.split(DECIDE).length - 1;
