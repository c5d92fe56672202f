/** `partner-sync reconcile`: proves that source and platform agree, by key range and then row by row. Writes nothing. */
import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import type { Command } from 'commander';
import type { Difference } from '../../../activities/differences.js';
import { reconcileMapping, type Reconciliation, type ReconcileOptions } from '../../../activities/reconcile-mapping.js';
import type { ViewParts } from '../../compose.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { chosenMappings } from '../chosen-mappings.js';
import { begins } from '../begins.js';
import { EXIT, look } from '../command-context.js';
import { readBackAmount } from '../arguments.js';
import type { Output } from '../output.js';
import { counted } from '../counted.js';
import { printable, table } from '../table.js';

interface ReconcileFlags {
  json?: boolean;
  readBack?: 'all' | 'sample' | number;
  seed?: string;
  mapping?: string[];
  out?: string;
}

export function addReconcile(program: Command): void {
  program
    .command('reconcile')
    .summary('prove that source and platform agree')
    .description(
      "Reads and maps every row, and compares counts and hashes with the ledger's receipts, range by range; where they differ, row by row: missing, stale, extra. With --read-back also with what the platform answers. Sends and writes nothing.",
    )
    .argument('<sync>', 'folder in the mappings folder')
    .option(
      '--read-back <all|sample N...>',
      'read all records, or a sample of N a mapping, back from the platform',
      readBackAmount,
    )
    .option('--seed <text>', 'draw the same sample again')
    .option('--mapping <name...>', 'only these mappings')
    .option('--out <file>', 'write every difference to a file, one JSON object a line')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  partner-sync reconcile online-retail\n  partner-sync reconcile online-retail --out differences.jsonl\n  partner-sync reconcile online-retail --read-back sample 500\n  partner-sync reconcile online-retail --read-back all\n\nExit codes: 0 all agree; 1 differences; 2 wrong usage or configuration',
    )
    .hook(
      'preAction',
      begins((sync) => `comparing the rows of ${sync} ...`),
    )
    .action(
      look<[string], ReconcileFlags>(async ({ parts, output }, name, { mapping, out, ...flags }) => {
        const readBack = flags.readBack ?? 'none';
        if (readBack === 'sample') throw new PartnerSyncError('input_invalid', '--read-back sample needs a number');
        const seed = flags.seed ?? randomBytes(4).toString('hex');
        const list = out === undefined ? null : openList(out);
        const results = await reconcileSync(parts, name, { readBack, seed, tell: list?.add }, output, mapping);
        await list?.close();
        const agree = results.every(agrees);
        const drawn = typeof readBack === 'number' ? { seed } : {};
        output.result({ sync: name, agree, ...drawn, mappings: results }, () => [
          ...reconciliationLines(results),
          ...(typeof readBack === 'number'
            ? [`the same sample again: --read-back sample ${readBack} --seed ${seed}`]
            : []),
          ...(out === undefined ? [] : [`all of them are in ${out}`]),
        ]);
        return agree ? EXIT.done : EXIT.failed;
      }),
    );
}

export const agrees = (r: Reconciliation): boolean => r.equal === r.rows && r.extra === 0;

type How = Pick<ReconcileOptions, 'readBack' | 'seed'> & {
  readonly tell?: ((mapping: string, difference: Difference) => Promise<void>) | undefined;
};

export async function reconcileSync(
  parts: ViewParts,
  name: string,
  { tell, ...how }: How,
  output: Output,
  only?: readonly string[],
): Promise<Reconciliation[]> {
  const sync = await parts.openSync(name);
  const chosen = chosenMappings(sync.spec, only);
  const views = { ledger: await parts.ledger(), platform: await parts.platform() };
  if ((await views.ledger.runs.latest(name, 10)).some((run) => run.ended_at === null))
    output.note('a run is at work: rows that change meanwhile may differ');
  const results: Reconciliation[] = [];
  let told = Date.now();
  const progress = (mapping: string, rows: number): void => {
    if (Date.now() - told < 3_000) return;
    told = Date.now();
    output.note(`  ${mapping}: ${rows.toLocaleString('en-GB')} rows compared`);
  };
  for (const mapping of chosen) {
    const options = { ...how, progress, tell: (difference: Difference) => tell?.(mapping, difference) };
    results.push(await reconcileMapping(views, sync, await sync.mapping(mapping), options));
  }
  return results;
}

/** The whole list of differences, written as they are found: it may be as long as the table. */
function openList(file: string) {
  const stream = createWriteStream(file);
  const failed = new Promise<never>((_, reject) => {
    stream.on('error', (error: NodeJS.ErrnoException) =>
      reject(new PartnerSyncError('input_invalid', `--out ${file} cannot be written (${error.code ?? 'unknown'})`)),
    );
  });
  failed.catch(() => undefined);
  return {
    add: async (mapping: string, difference: Difference): Promise<void> => {
      if (!stream.write(`${JSON.stringify({ mapping, ...difference })}\n`))
        await Promise.race([once(stream, 'drain'), failed]);
    },
    async close(): Promise<void> {
      stream.end();
      await Promise.race([once(stream, 'close'), failed]);
    },
  };
}

export function reconciliationLines(results: readonly Reconciliation[]): string[] {
  const lines = table(
    [
      'mapping',
      'source rows',
      'equal',
      'stale',
      'missing',
      'extra',
      'duplicate',
      'unmappable',
      'read back',
      'ranges',
      'agree',
    ],
    results.map((r) => [
      ...[r.mapping, r.rows, r.equal, r.stale, r.missing, r.extra, r.duplicate, r.unmappable, r.readBack],
      ...[r.ranges.read, r.ranges.agree],
    ]),
  );
  for (const { mapping, ranges, examples } of results) {
    for (const { after, through, rows, differences } of ranges.differing)
      lines.push(
        printable(
          `  ${mapping}, keys ${after === null ? '' : `behind ${after.join(', ')} `}through ${through.join(', ')}: ${differences} of ${rows} rows differ`,
        ),
      );
    for (const { kind, externalId, key, what } of examples)
      lines.push(printable(`  ${kind.padEnd(10)} ${mapping}/${externalId ?? `key ${key?.join(', ')}`}: ${what}`));
  }
  const differences = results.reduce((n, r) => n + r.rows - r.equal + r.extra, 0);
  lines.push('', differences === 0 ? '0 differences: source and platform agree' : counted(differences, 'difference'));
  return lines;
}
