/** `partner-sync init`: looks at a database and writes a first sync for it. */
import { join } from 'node:path';
import type { Command } from 'commander';
import { PartnerSyncError } from '../../domain/errors.js';
import { isSyncName, isTenantId, nearest, SYNC_NAME_PATTERN, TENANT_ID_PATTERN } from '../../domain/names.js';
import { dialectOf, SOURCE_ADDRESSES } from '../../domain/source-address.js';
import type { SourceTable } from '../../domain/source-catalog.js';
import type { SourceConfig } from '../../domain/sync.js';
import { DECIDE } from '../../init/draft.js';
import { draftSync } from '../../init/draft-sync.js';
import { definitionFile, mappingFile, syncFile, type DraftedFile } from '../../init/write-files.js';
import { assertFree, writeFolder } from '../../init/write-folder.js';
import { openSource } from '../../source/open-source.js';
import { EXIT, look } from '../command-context.js';
import { table } from '../table.js';

interface InitFlags {
  json?: boolean;
  source: string;
  table?: string[];
  tenant?: string;
}

/** More than a person can look through; then the tables must be named. */
const TABLES = 40;

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
        const files = await draftFiles({ address, variable, tables: flags.table, tenant: flags.tenant ?? null });
        await writeFolder(folder, name, files);
        const decisions = files.map((file) => ({ file: join(folder, name, file.name), decisions: countOf(file) }));
        const steps = nextSteps(name, variable, parts.env[variable] === undefined, flags.tenant === undefined);
        output.result({ sync: name, variable, files: decisions, next: steps }, () => [
          ...table(
            ['file', 'to decide'],
            decisions.map((d) => [d.file, d.decisions]),
          ),
          '',
          `Written; lines with ${DECIDE.slice(0, -1)} want a decision. Nothing was sent. Next:`,
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
  readonly address: string;
  readonly variable: string;
  readonly tables: readonly string[] | undefined;
  readonly tenant: string | null;
}

async function draftFiles({ address, variable, tables: wanted, tenant }: DraftInput): Promise<DraftedFile[]> {
  const config = configOf(address);
  const source = openSource(config);
  try {
    const server = await source.server();
    const tables = chosenTables(await source.tables(), wanted);
    const zone = isZone(server.timeZone) ? server.timeZone : 'UTC';
    const draft = await draftSync(source, tables, zone);
    if (draft.mappings.length === 0)
      throw new PartnerSyncError(
        'config_invalid',
        `none of ${tables.length} tables has a primary key; nothing was written`,
      );
    return [
      syncFile({ ...draft, product: `${server.product} ${server.version}`, variable, tenant }),
      ...draft.mappings.flatMap((mapping) => [mappingFile(mapping), definitionFile(mapping)]),
    ];
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

function chosenTables(all: readonly SourceTable[], wanted: readonly string[] | undefined): SourceTable[] {
  const readable = all.filter((t) => t.readable);
  if (wanted !== undefined)
    return wanted.map((name) => {
      const found = all.find((t) => t.table === name);
      if (found?.readable) return found;
      const near = nearest(
        name,
        readable.map((t) => t.table),
      );
      throw new PartnerSyncError(
        'input_invalid',
        found === undefined
          ? `the database has no table "${name}" that this account can see.${near === undefined ? '' : ` Did you mean "${near}"?`}`
          : `this account may not read ${name}: GRANT SELECT ON ${name} TO it`,
      );
    });
  const tables = readable.filter((t) => t.kind === 'table');
  if (tables.length === 0)
    throw new PartnerSyncError(
      'config_invalid',
      `the account can read no table of this database${all.length > 0 ? `, of ${all.length} that it can see: GRANT SELECT on them` : ''}`,
    );
  if (tables.length > TABLES)
    throw new PartnerSyncError(
      'input_invalid',
      `the database has ${tables.length} tables; name those to sync with --table. They are: ${tables.map((t) => t.table).join(', ')}`,
    );
  return tables;
}

function isZone(zone: string | null): zone is string {
  if (zone === null || !/^[A-Za-z]/.test(zone)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

const countOf = ({ text }: DraftedFile): number => text.split(DECIDE).length - 1;

const nextSteps = (sync: string, variable: string, unset: boolean, tenantOpen: boolean): string[] => [
  ...(unset ? [`put ${variable}=<the database's URL> into .env, or export it`] : []),
  ...(tenantOpen ? [`fill in tenant in sync.yaml`] : []),
  `partner-sync check ${sync}`,
  `partner-sync preview ${sync}`,
];
