/**
 * `partner-sync forget`: removes what the ledger knows of a record, of all records of a tenant, of mappings that the files no longer
 * have, or of a sync, after asking.
 *
 * Writes the ledger only; reads the sync's files if mappings are named. Source and platform are not touched. Without a
 * terminal it needs `--yes`. Exit codes: 0 done (also if nothing was known), 1 failed, not confirmed, or it has to wait
 * for a run or a batch, 2 wrong usage or configuration.
 */
import { InvalidArgumentError, type Command } from 'commander';
import type { Parts } from '../../composition/parts.js';
import { quantity } from '../../domain/values/quantity.js';
import { PartnerSyncError } from '../../domain/errors.js';
import type { Forgetting, Forgotten, KnownOf, Obstacle } from '../../ledger/forget/forget.js';
import { EXIT, withParts } from '../command-context.js';
import { confirmed } from '../output/confirmed.js';
import { listSyncs, readSyncFolder } from '../../mapping/sync-folder.js';
import { assertKnown } from '../known-sync.js';
import { table } from '../output/text-table.js';
import { thisCommand } from '../actor.js';

interface ForgetFlags {
  readonly json?: boolean;
  readonly tenant?: string;
  readonly externalId?: string;
  readonly mapping?: string[];
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export function addForget(program: Command): void {
  program
    .command('forget')
    .description(
      'Removes what the ledger knows about a record, about all records of a tenant, about a mapping that the files no longer have, or about a whole sync: what was accepted, waiting records, dead letters, entries of removal plans. Source and platform are not touched.',
    )
    .argument('<sync>', 'folder in the mappings folder')
    .option('--tenant <id>', "the platform's id of a tenant; with --external-id: only that tenant's record")
    .option('--external-id <id>', 'the record, in whichever tenant', once)
    .option(
      '--mapping <name...>',
      'only in these mappings; alone: all that is known of them, if the files no longer have them',
    )
    .option('--all', 'all that is known of the sync, which begins anew then; its files need not be there any more')
    .option('--dry-run', 'only show what is known')
    .option('-y, --yes', 'do not ask')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  partner-sync forget online-retail --external-id 17850 --mapping customers --dry-run\n  partner-sync forget online-retail --tenant tenant-a --yes\n  partner-sync forget online-retail --mapping coupons\n  partner-sync forget online-retail --all --dry-run\n\nExit codes: 0 done; 1 failed, not confirmed, or a run or a batch is in the way; 2 wrong usage or configuration',
    )
    .action(
      withParts<[string], ForgetFlags>(async ({ parts, output }, sync, flags) => {
        const { dryRun = false, yes = false } = flags;
        const what = await forgettingOf(parts, sync, flags);
        const { forget } = await parts.ledger();
        const before = await forget.known(what);
        const ask = !dryRun && before.obstacles.length === 0 && total(before.known) > 0;
        if (ask && !yes && !(await confirmed(`${knownLine(sync, before.known)} This cannot be undone. Forget it?`))) {
          output.result({ sync, forgotten: false, ...before }, () => ['nothing was forgotten']);
          return EXIT.failed;
        }
        const found = ask ? await forget.forget(what, thisCommand()) : before;
        const forgotten = ask && found.obstacles.length === 0;
        output.result({ sync, dryRun, forgotten, ...found }, () => linesOf(what, found, { dryRun, forgotten }));
        return found.obstacles.length > 0 ? EXIT.failed : EXIT.done;
      }),
    );
}

async function forgettingOf(
  parts: Parts,
  sync: string,
  {
    tenant = null,
    externalId = null,
    mapping = null,
    all = false,
  }: { tenant?: string | null; externalId?: string | null; mapping?: string[] | null; all?: boolean },
): Promise<Forgetting> {
  if (all) return allOf(parts, sync, [tenant, externalId, mapping]);
  if (tenant === null && externalId === null) {
    if (mapping === null)
      throw new PartnerSyncError(
        'input_invalid',
        'say what to forget: --tenant, --external-id, a --mapping that the files no longer have, or --all',
      );
    await assertRemoved(parts, sync, mapping);
  }
  const known = await (await parts.ledger()).forget.mappingsOf(sync);
  // A mapping whose file is gone may still be known.
  const unknown = (mapping ?? []).filter((name) => !known.includes(name));
  if (known.length === 0 || unknown.length > 0) await assertKnown(parts, sync, unknown);
  const schemas = mapping === null ? null : await schemasOf(parts, sync, mapping);
  return { sync, tenant, externalId, mappings: mapping, schemas };
}

/** @param others the options that choose a part of it */
async function allOf(parts: Parts, sync: string, others: readonly unknown[]): Promise<Forgetting> {
  if (others.some((given) => given !== null))
    throw new PartnerSyncError(
      'input_invalid',
      '--all is about the whole sync: leave --tenant, --external-id and --mapping out',
    );
  const { forget } = await parts.ledger();
  if ((await forget.mappingsOf(sync)).length === 0) await assertKnown(parts, sync);
  return { sync, tenant: null, externalId: null, mappings: null, schemas: null };
}

/** A mapping that is still there would begin anew, and send all of its records once more. */
async function assertRemoved(parts: Parts, sync: string, names: readonly string[]): Promise<void> {
  const folder = await parts.mappingsFolder();
  if (!(await listSyncs(folder)).includes(sync))
    throw new PartnerSyncError(
      'input_invalid',
      `whether ${sync} still has a mapping ${names[0]} cannot be told: its files are not in ${folder}; run this where they are, or say which records to forget, with --tenant or --external-id`,
    );
  const present = [...(await readSyncFolder(folder, sync)).mappings.keys()];
  const name = names.find((each) => present.includes(each));
  if (name === undefined) return;
  throw new PartnerSyncError(
    'input_invalid',
    `mapping ${name} is still in the files of ${sync}: say which of its records to forget, with --tenant or --external-id, or remove its file first`,
  );
}

/** Records refer to others by the names of schema definitions; null, for all of them, if the file of a mapping is gone. */
async function schemasOf(parts: Parts, sync: string, names: readonly string[]): Promise<string[] | null> {
  const { mappings } = (await parts.openSync(sync)).spec;
  const found = mappings.filter(({ name }) => names.includes(name));
  return found.length < new Set(names).size ? null : found.map(({ schema }) => schema.name);
}

/** The value of an option that would otherwise replace the one that was given before. */
function once(value: string, before: string | undefined): string {
  if (before !== undefined) throw new InvalidArgumentError('It was given twice. Forget one record at a time.');
  return value;
}

const WORDS: Readonly<Record<keyof KnownOf, string>> = {
  records: 'records that were sent',
  waiting: 'waiting records',
  deadLetters: 'dead letters',
  removals: 'records in removal plans',
  runs: 'inputs and partitions of runs that name it',
  references: 'dead letters of other records that name it as a parent',
  batches: 'open batches',
  plans: 'open removal plans',
  changedRows: 'changed rows that were not delivered',
  positions: 'positions up to which rows were read',
};
const KINDS = Object.keys(WORDS) as (keyof KnownOf)[];

const total = (known: KnownOf): number => KINDS.reduce((sum, kind) => sum + known[kind], 0);

const knownLine = (sync: string, known: KnownOf): string =>
  `The ledger of ${sync} knows ${KINDS.filter((kind) => known[kind] > 0)
    .map((kind) => `${known[kind].toLocaleString('en-GB')} ${WORDS[kind]}`)
    .join(', ')}.`;

function linesOf(
  { sync, tenant, externalId, mappings }: Forgetting,
  { known, obstacles, waitingChildren }: Forgotten,
  { dryRun, forgotten }: { readonly dryRun: boolean; readonly forgotten: boolean },
): string[] {
  const isMapping = tenant === null && externalId === null;
  if (total(known) === 0 && obstacles.length === 0) return [`the ledger of ${sync} knows nothing of it`, ...REMAINS];
  return [
    forgotten ? `forgotten by the ledger of ${sync}:` : `known to the ledger of ${sync}:`,
    ...table(
      ['rows', ''],
      KINDS.filter((kind) => known[kind] > 0).map((kind) => [known[kind], WORDS[kind]]),
    ),
    ...(obstacles.length > 0
      ? [
          '',
          'Nothing was forgotten, since this is in the way:',
          ...obstacles.map((each) => obstacleLine(each, isMapping, mappings === null)),
        ]
      : dryRun
        ? ['', 'nothing was forgotten (--dry-run)']
        : []),
    '',
    ...(waitingChildren > 0
      ? [
          `${quantity(waitingChildren, 'other record waits', 'other records wait')} for it as a parent and name it until the wait is over.`,
        ]
      : []),
    ...REMAINS,
    ...(isMapping
      ? [
          mappings === null
            ? 'The next run sends every row, to whichever platform PLATFORM_BASE_URL names then. Records whose rows are gone stay where they are: no run finds them any more.'
            : 'If the mapping comes back, it begins anew.',
          'The counts of its runs stay until `prune` deletes them.',
        ]
      : externalId === null
        ? ["The tenant's own id stays, since counts of rows refer to it."]
        : []),
  ];
}

/**
 * @param isMapping of whole mappings: no run will ask what became of their batches
 * @param isSync of all mappings of the sync, whose files may be there
 */
function obstacleLine({ kind, run, since, state, count }: Obstacle, isMapping: boolean, isSync: boolean): string {
  if (kind === 'run')
    return `  run ${run} has been active since ${since}; wait for its end, or start a run if its workflow was terminated`;
  const batches = quantity(count, 'batch is', 'batches are');
  const them = count === 1 ? 'it' : 'them';
  if (state === 'in doubt')
    return `  ${batches} in doubt since ${since} (run ${run}): no response has come, and the platform may still store ${them}; try again in some minutes`;
  if (isMapping)
    return `  ${batches} ${state === 'pending' ? 'pending on the platform' : 'open'} since ${since} (run ${run}): the platform keeps ${them} for a day at most; try again then, or ${isSync ? 'let a run deliver what waits' : 'put the mapping back and run it'}`;
  return state === 'pending'
    ? `  ${batches} pending on the platform since ${since} (run ${run}): its records wait for their parents; runs ask again until the platform drops them`
    : `  ${batches} open since ${since} (run ${run}): the next run finds out what became of ${them}`;
}

/** What no command of ours can remove. */
const REMAINS = [
  'What remains: the source and the platform are not touched. As long as the source has the row, a run that reads it sends it again.',
  "Temporal's history of a backfill with --external-id contains the id until the retention of the namespace is over.",
];
