/**
 * `partner-sync init`: inspects a database and writes a first sync for it.
 *
 * Reads the catalog of the database, and sample rows where a column's type does not say enough. Writes one new folder
 * below the mappings folder, and the JSON Schemas of the mapping language beside it if they are missing; it never
 * changes an existing file. Needs neither ledger, platform nor Temporal. Exit codes: 0 written, 1 failed, 2 wrong usage
 * or configuration, including a folder that exists and is not empty.
 */
import { join, relative } from 'node:path';
import type { Command } from 'commander';
import { PartnerSyncError } from '../../domain/errors.js';
import {
  isSyncName,
  isTenantId,
  sourceVariableOf,
  SYNC_NAME_PATTERN,
  TENANT_ID_PATTERN,
} from '../../domain/values/names.js';
import { dialectOf, SOURCE_ADDRESSES } from '../../domain/source/source-address.js';
import type { SourceConfig } from '../../domain/sync/sync.js';
import { chosenTables } from '../../init/choose-tables.js';
import { DECIDE } from '../../init/draft.js';
import { draftSync } from '../../init/draft-sync.js';
import { definitionFile, mappingFile, syncFile, type DraftedFile } from '../../init/write-files.js';
import { assertFree, writeFolder } from '../../init/write-folder.js';
import { guessZone } from '../../init/guess-zone.js';
import { proposeFeed, type FeedProposal } from '../../init/propose-feed.js';
import { listSyncs, readSyncFolder } from '../../mapping/sync-folder.js';
import { openSource } from '../../source/open-source.js';
import { EXIT, withViewParts } from '../command-context.js';
import { printable, table } from '../output/text-table.js';
import { seconds } from '../../domain/timeouts.js';

interface InitFlags {
  json?: boolean;
  source: string;
  table?: string[];
  tenant?: string;
}

export function addInit(program: Command): void {
  program
    .command('init')
    .description(
      'Inspects the tables, keys, foreign keys, types and comments of a database, and writes mappings and schema definitions for it, with comments on what is left to decide. The database is only read; existing files are not changed.',
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
      withViewParts<[string], InitFlags>(async ({ parts, output }, name, flags) => {
        if (!isSyncName(name))
          throw new PartnerSyncError('input_invalid', `a sync's name must match ${SYNC_NAME_PATTERN}; got "${name}"`);
        if (flags.tenant !== undefined && !isTenantId(flags.tenant))
          throw new PartnerSyncError('input_invalid', `a tenant's id must match ${TENANT_ID_PATTERN}`);
        const folder = await parts.mappingsFolder();
        await assertFree(folder, name);
        const { address, variable } = addressOf(flags.source, name, parts.env);
        const taken = await schemasOfOthers(folder);
        const { files, keyless, feed } = await draftFiles({
          name,
          address,
          variable,
          taken,
          tables: flags.table,
          tenant: flags.tenant ?? null,
        });
        await writeFolder(folder, name, files);
        const decisions = files.map((file) => ({ file: join(folder, name, file.name), decisions: countOf(file) }));
        const next = [
          ...(parts.env[variable] === undefined
            ? [`put ${variable}=<the database's URL> into .env, or export it`]
            : []),
          ...(flags.tenant === undefined ? ['fill in the tenant in sync.yaml'] : []),
          ...(decisions.some((d) => d.decisions > 0)
            ? [`decide on the lines marked ${DECIDE} grep -n '${DECIDE}' ${shown(join(folder, name))}/*`]
            : []),
          `partner-sync check ${name}`,
          `partner-sync preview ${name}`,
        ];
        const written = { sync: name, variable, files: decisions, leftOut: keyless, changes: feed, next };
        output.result(written, () => writtenLines(written));
        return EXIT.done;
      }),
    );
}

/** What was written, as the JSON document has it. */
interface Written {
  readonly files: readonly { readonly file: string; readonly decisions: number }[];
  /** Tables without a key. */
  readonly leftOut: readonly string[];
  /** How runs find what has changed. */
  readonly changes: FeedProposal;
  readonly next: readonly string[];
}

/** A path as people type it: relative to the folder that they are in, unless it is elsewhere. */
const shown = (path: string): string => {
  const fromHere = relative(process.cwd(), path);
  return fromHere.startsWith('..') ? path : fromHere;
};

const writtenLines = ({ files, leftOut, changes, next }: Written): string[] => [
  ...table(
    ['file', 'to decide'],
    files.map((f) => [shown(f.file), f.decisions]),
  ),
  '',
  ...(leftOut.length === 0
    ? []
    : [`Left out, as they have no key to identify a record: ${leftOut.join(', ')}; see sync.yaml for what to do.`, '']),
  ...changes.why.map((line) => printable(line)),
  '',
  'Written. Nothing was sent. Next:',
  ...next.map((step, i) => `  ${i + 1}. ${step}`),
];

/**
 * The address to connect to, and the variable that sync.yaml will name: files get the name of a variable, never the
 * address, which may contain a password. Throws `config_invalid` if the variable has no value.
 */
function addressOf(given: string, sync: string, env: Readonly<Record<string, string | undefined>>) {
  const variable = /^[A-Z_][A-Z0-9_]*$/.test(given) ? given : null;
  if (variable === null) return { address: given, variable: sourceVariableOf(sync) };
  const address = env[variable];
  if (address === undefined || address === '')
    throw new PartnerSyncError('config_invalid', `${variable} is not set; it must hold the database's URL`);
  return { address, variable };
}

/** What the files are drafted from. `taken` maps schema names to the syncs that use them. */
interface DraftInput {
  readonly name: string;
  readonly address: string;
  readonly variable: string;
  readonly tables: readonly string[] | undefined;
  readonly tenant: string | null;
  readonly taken: ReadonlyMap<string, string>;
}

/**
 * The files' texts, in the order in which they are listed, and the tables that were left out for want of a key. Throws
 * `config_invalid` if no table is left.
 */
async function draftFiles(input: DraftInput): Promise<{ files: DraftedFile[]; keyless: string[]; feed: FeedProposal }> {
  const { name, address, variable, tenant, taken } = input;
  const config = configOf(address);
  const source = openSource(config);
  try {
    const server = await source.server();
    const tables = chosenTables(await source.tables(), input.tables);
    // Columns of SQLite hold values of any type, so the declared types are not enough.
    const dynamic = server.product === 'SQLite';
    const draft = await draftSync(source, { name, tables, zone: guessZone(server), dynamic, taken });
    if (draft.mappings.length === 0)
      throw new PartnerSyncError(
        'config_invalid',
        `none of the tables (${tables.length}) has a primary key; nothing was written`,
      );
    const feed = await proposeFeed(source, name, server.product, draft.mappings);
    const files = [
      syncFile({ ...draft, feed, product: `${server.product} ${server.version}`, variable, tenant }),
      ...draft.mappings.flatMap((mapping) => [mappingFile(mapping), definitionFile(mapping)]),
    ];
    return { files, keyless: draft.keyless.map((t) => t.table), feed };
  } finally {
    await source.close();
  }
}

/** A small pool, as queries are made one after the other. Throws `config_invalid` without quoting the address. */
function configOf(address: string): SourceConfig {
  if (dialectOf(address) === undefined)
    throw new PartnerSyncError(
      'config_invalid',
      `--source must be a URL such as ${SOURCE_ADDRESSES}, or the name, in capitals, of a variable that holds one; ${schemeShown(address)}`,
    );
  return { connection: address, poolMax: 2, statementTimeout: seconds('sourceStatement') };
}

/** The scheme is the only part of an address that certainly is no secret. */
function schemeShown(address: string): string {
  const scheme = /^[a-z0-9]+:/i.exec(address)?.[0].toLowerCase();
  return scheme === undefined ? 'the value has no scheme' : `the scheme "${scheme}" is unknown`;
}

/** Schema names that other syncs use. The platform has one namespace for all, so a draft must not take a name again. */
async function schemasOfOthers(folder: string): Promise<Map<string, string>> {
  const taken = new Map<string, string>();
  for (const sync of await listSyncs(folder))
    for (const schema of (await readSyncFolder(folder, sync)).definitions.keys()) taken.set(schema, sync);
  return taken;
}

const countOf = ({ text }: DraftedFile): number => text.split(DECIDE).length - 1;
