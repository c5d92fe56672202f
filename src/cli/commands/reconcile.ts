/**
 * `partner-sync reconcile`: proves that source and platform agree, interval by interval, then row by row (ADR 0015).
 *
 * Reads every row of the source and maps it, and reads the ledger's accepted hashes; with `--read-back` also records
 * from the platform. Writes nothing but the file of `--out`. Needs neither Temporal nor a worker. Exit codes: 0 all
 * agree, 1 there are differences or it failed, 2 wrong usage or configuration.
 */
import { randomBytes } from 'node:crypto';
import { createWriteStream, type WriteStream } from 'node:fs';
import { once } from 'node:events';
import type { Command } from 'commander';
import type { Difference } from '../../inspection/differences.js';
import type { Reconciliation } from '../../inspection/reconcile-mapping.js';
import { agrees, reconcileSync } from '../../inspection/reconcile-sync.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { mappingsInOrder } from '../../mapping/order/mappings-in-order.js';
import { announces } from '../announce.js';
import { EXIT, withViewParts } from '../command-context.js';
import { readBackAmount } from '../arguments.js';
import { quantity } from '../../domain/values/quantity.js';
import { printable, table } from '../output/text-table.js';

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
    .description(
      "Reads and maps every row, and compares counts and hashes with the ledger's accepted hashes, interval by interval; where they differ, row by row: missing, stale, extra. With --read-back it also compares with what the platform returns. Sends and writes nothing.",
    )
    .argument('<sync>', 'folder in the mappings folder')
    .option(
      '--read-back <all|sample N...>',
      'read all records, or a sample of N from each mapping, back from the platform',
      readBackAmount,
    )
    .option('--seed <text>', 'draw the same sample again')
    .option('--mapping <name...>', 'only these mappings')
    .option('--out <file>', 'write all differences to a file, one JSON object a line')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  partner-sync reconcile online-retail\n  partner-sync reconcile online-retail --out differences.jsonl\n  partner-sync reconcile online-retail --read-back sample 500\n  partner-sync reconcile online-retail --read-back all\n\nExit codes: 0 all agree; 1 differences; 2 wrong usage or configuration',
    )
    .hook(
      'preAction',
      announces((sync) => `comparing the rows of ${sync} ...`),
    )
    .action(
      withViewParts<[string], ReconcileFlags>(async ({ parts, output }, name, { mapping, out, ...flags }) => {
        const readBack = flags.readBack ?? 'none';
        if (readBack === 'sample') throw new PartnerSyncError('input_invalid', '--read-back sample needs a number');
        // Printed with the result: a sample that showed a difference can be drawn again after a fix.
        const seed = flags.seed ?? randomBytes(4).toString('hex');
        const list = out === undefined ? null : openList(out);
        const sync = await parts.openSync(name);
        const mappings = mappingsInOrder(sync.spec, mapping);
        const views = { ledger: await parts.ledger(), platform: await parts.platform() };
        const note = (line: string): void => output.note(line);
        const results = await reconcileSync(views, sync, mappings, { readBack, seed, tell: list?.add, note });
        await list?.close();
        const agree = results.every(agrees);
        const drawn = typeof readBack === 'number' ? { seed } : {};
        output.result({ sync: name, agree, ...drawn, mappings: results }, () => [
          ...reconciliationLines(name, results),
          ...(typeof readBack === 'number'
            ? [`to draw the same sample again: --read-back sample ${readBack} --seed ${seed}`]
            : []),
          ...(out === undefined ? [] : [`all differences are in ${out}`]),
        ]);
        return agree ? EXIT.done : EXIT.failed;
      }),
    );
}

/**
 * The file of `--out`. Differences are written as they are found, since there may be as many as rows. Throws
 * `input_invalid` from `add` or `close` if the file cannot be written.
 *
 * An earlier list is replaced with the first difference, or at the end if there is none: a command that fails before,
 * such as for a misspelled name, leaves it as it is.
 */
function openList(file: string) {
  let list: { readonly stream: WriteStream; readonly failed: Promise<never> } | undefined;
  const opened = () => (list ??= openStream(file));
  return {
    add: async (mapping: string, difference: Difference): Promise<void> => {
      const { stream, failed } = opened();
      if (!stream.write(`${JSON.stringify({ mapping, ...difference })}\n`))
        await Promise.race([once(stream, 'drain'), failed]);
    },
    async close(): Promise<void> {
      const { stream, failed } = opened();
      stream.end();
      await Promise.race([once(stream, 'close'), failed]);
    },
  };
}

/** `failed` rejects once the file cannot be written. */
function openStream(file: string) {
  // It names records.
  const stream = createWriteStream(file, { mode: 0o600 });
  const failed = new Promise<never>((_, reject) => {
    stream.on('error', (error: NodeJS.ErrnoException) =>
      reject(new PartnerSyncError('input_invalid', `--out ${file} cannot be written (${error.code ?? 'unknown'})`)),
    );
  });
  // The file may fail before anything waits for it; an unhandled rejection would end the process.
  failed.catch(() => undefined);
  return { stream, failed };
}

/**
 * The result for people: counts of each mapping, the key ranges that differ, some examples, and at the end whether anything
 * differs, and how much of that is known as dead letters.
 */
export function reconciliationLines(sync: string, results: readonly Reconciliation[]): string[] {
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
      r.mapping,
      r.rows,
      r.equal,
      r.stale,
      r.missing,
      r.extra,
      r.duplicate,
      r.unmappable,
      r.readBack,
      r.ranges.read,
      r.ranges.agree,
    ]),
  );
  for (const { mapping, ranges, examples } of results) {
    for (const { after, through, rows, differences } of ranges.differing)
      lines.push(
        printable(
          `  ${mapping}, keys ${after === null ? '' : `after ${after.join(', ')} `}through ${through.join(', ')}: ${differences} of ${quantity(rows, 'row differs', 'rows differ')}`,
        ),
      );
    for (const { kind, tenant, externalId, key, what } of examples) {
      const ofTenant = tenant === null ? '' : ` of tenant ${tenant}`;
      lines.push(
        printable(`  ${kind.padEnd(10)} ${mapping}/${externalId ?? `key ${key?.join(', ')}`}${ofTenant}: ${what}`),
      );
    }
  }
  const differences = results.reduce((n, r) => n + r.rows - r.equal + r.extra, 0);
  lines.push('', differences === 0 ? '0 differences: source and platform agree' : quantity(differences, 'difference'));
  const deadLetters = results.reduce((n, r) => n + r.deadLetters, 0);
  if (deadLetters > 0)
    lines.push(
      `${quantity(deadLetters, 'of them is a known dead letter', 'of them are known dead letters')}: partner-sync dead-letters list ${sync}`,
    );
  return lines;
}
