/** `partner-sync reconcile`: proves that source and platform agree, row by row. Writes nothing anywhere. */
import type { Command } from 'commander';
import { reconcileMapping, type Reconciliation } from '../../../activities/reconcile-mapping.js';
import type { ViewParts } from '../../compose.js';
import { chosenMappings } from '../chosen-mappings.js';
import { EXIT, look } from '../command-context.js';
import { allOrCount } from '../arguments.js';
import type { Output } from '../output.js';
import { table } from '../table.js';

interface ReconcileFlags {
  json?: boolean;
  readBack?: 'all' | number;
  mapping?: string[];
}

export function addReconcile(program: Command): void {
  program
    .command('reconcile')
    .summary('prove that source and platform agree')
    .description(
      "Maps every row anew and holds it against the ledger's receipts, or against the platform itself with --read-back. Sends and writes nothing.",
    )
    .argument('<sync>', 'folder in the mappings folder')
    .option('--read-back <all|N>', 'read all records, or about N a mapping, back from the platform', allOrCount)
    .option('--mapping <name...>', 'only these mappings')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  partner-sync reconcile online-retail\n  partner-sync reconcile online-retail --read-back all\n\nExit codes: 0 all agree; 1 differences; 2 wrong usage or configuration',
    )
    .action(
      look<[string], ReconcileFlags>(async ({ parts, output }, name, { readBack, mapping }) => {
        const results = await reconcileSync(parts, name, readBack ?? 'none', output, mapping);
        const agree = results.every(agrees);
        output.result({ sync: name, agree, mappings: results }, () => reconciliationLines(results));
        return agree ? EXIT.done : EXIT.failed;
      }),
    );
}

export const agrees = (r: Reconciliation): boolean => r.equal === r.rows && r.extra === 0;

export async function reconcileSync(
  parts: ViewParts,
  name: string,
  readBack: 'all' | number | 'none',
  output: Output,
  only?: readonly string[],
): Promise<Reconciliation[]> {
  const sync = await parts.openSync(name);
  const chosen = chosenMappings(sync.spec, only);
  const views = { ledger: await parts.ledger(), platform: await parts.platform() };
  const results: Reconciliation[] = [];
  let told = Date.now();
  const progress = (mapping: string, rows: number): void => {
    if (Date.now() - told < 3_000) return;
    told = Date.now();
    output.note(`  ${mapping}: ${rows.toLocaleString('en-GB')} rows compared`);
  };
  for (const mapping of chosen)
    results.push(await reconcileMapping(views, sync, await sync.mapping(mapping), { readBack, progress }));
  return results;
}

export function reconciliationLines(results: readonly Reconciliation[]): string[] {
  const lines = table(
    ['mapping', 'source rows', 'equal', 'different', 'missing', 'extra', 'unmappable', 'read back'],
    results.map((r) => [r.mapping, r.rows, r.equal, r.different, r.missing, r.extra, r.unmappable, r.readBack]),
  );
  for (const r of results) for (const e of r.examples) lines.push(`  ${r.mapping}/${e.externalId}: ${e.what}`);
  const differences = results.reduce((n, r) => n + r.rows - r.equal + r.extra, 0);
  lines.push('', differences === 0 ? '0 differences: source and platform agree' : `${differences} differences`);
  return lines;
}
