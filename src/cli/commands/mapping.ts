/**
 * `partner-sync mapping test`: runs the examples beside the mappings as tests; `--record` writes new ones first.
 *
 * Reads the sync's files. With `--record N` it also reads N rows of each mapping from the source and appends them,
 * masked, to `<mapping>.examples.yaml`; without it no database is needed. Ledger, platform and Temporal are not
 * involved. Exit codes: 0 all examples pass (also if there are none), 1 some fail, 2 wrong usage or configuration.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { readTenantList } from '../../reading/read-tenant-list.js';
import { quantity } from '../../domain/values/quantity.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { formatFinding, type Finding } from '../../domain/sync/finding.js';
import type { SyncSpec } from '../../domain/sync/sync.js';
import { runExamples } from '../../mapping/check/run-examples.js';
import { readExampleRows } from '../../inspection/example-rows.js';
import { makeExamples } from '../../mapping/check/make-examples.js';
import { readSyncFolder } from '../../mapping/sync-folder.js';
import { openSource } from '../../source/open-source.js';
import { count } from '../arguments.js';
import { mappingsInOrder } from '../../mapping/order/mappings-in-order.js';
import { EXIT, withViewParts } from '../command-context.js';
import type { Output } from '../output/output.js';
import { printable } from '../output/text-table.js';

interface MappingTestFlags {
  json?: boolean;
  mapping?: string[];
  record?: number;
}

/** The result of one mapping's examples; `findings` has one for each that failed. */
interface Tested {
  readonly mapping: string;
  readonly passed: number;
  readonly failed: number;
  readonly findings: readonly Finding[];
}

export function addMapping(program: Command): void {
  const mapping = program.command('mapping').summary('test mappings').description('Tests mappings.');
  mapping
    .command('test')
    .summary('run the examples beside the mappings')
    .description(
      'Runs <mapping>.examples.yaml beside each mapping: rows in, records out. Needs no database, except with --record.',
    )
    .argument('<sync>', 'folder in the mappings folder')
    .option('--mapping <name...>', 'only these mappings')
    .option('--record <N>', 'first add examples from N rows of the source, with masked values', count)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `\nExamples:\n  partner-sync mapping test online-retail\n  partner-sync mapping test online-retail --mapping customers --record 3\n\nExit codes: 0 all examples pass; 1 some fail; 2 wrong usage or configuration`,
    )
    .action(
      withViewParts<[string], MappingTestFlags>(async ({ parts, output }, name, options) => {
        const folder = await parts.mappingsFolder();
        const { spec: sync } = await parts.loadSync(name);
        const chosen = mappingsInOrder(sync, options.mapping);
        if (options.record !== undefined) await record(folder, sync, chosen, options.record, output);
        const { examples } = await readSyncFolder(folder, name);
        const tested: Tested[] = [];
        for (const mapping of sync.mappings.filter((m) => chosen.includes(m.name))) {
          const file = examples.get(mapping.name);
          const { passed, findings } =
            file === undefined ? { passed: 0, findings: [] } : await runExamples(folder, file, mapping, sync.tenant);
          tested.push({ mapping: mapping.name, passed, failed: findings.length, findings });
        }
        output.result({ sync: name, mappings: tested }, () => tested.flatMap(linesOf));
        return tested.some(({ failed }) => failed > 0) ? EXIT.failed : EXIT.done;
      }),
    );
}

const linesOf = ({ mapping, passed, failed, findings }: Tested): string[] => [
  ...findings.map((finding) => printable(formatFinding(finding))),
  passed + failed === 0
    ? `${mapping}: no examples; use --record 3 to write some`
    : `${mapping}: ${passed} passed, ${failed} failed`,
];

/**
 * Appends examples made from real rows. Comments and examples that a file already has are kept, which is why a JSON
 * file is rejected (`input_invalid`): it has no comments to keep, and people edit YAML.
 */
async function record(folder: string, sync: SyncSpec, chosen: readonly string[], rows: number, output: Output) {
  const { examples } = await readSyncFolder(folder, sync.name);
  const source = openSource(sync.source);
  try {
    const tenant = sync.tenant.kind === 'table' ? await readTenantList(source, sync.tenant) : sync.tenant;
    for (const mapping of sync.mappings.filter((m) => chosen.includes(m.name))) {
      const file = examples.get(mapping.name) ?? `${sync.name}/${mapping.name}.examples.yaml`;
      if (file.endsWith('.json'))
        throw new PartnerSyncError('input_invalid', `${file}: --record writes YAML; rename the file to .examples.yaml`);
      const { columns, rows: read } = await readExampleRows(source, mapping, tenant, rows);
      const path = join(folder, file);
      const existing = examples.has(mapping.name) ? await readFile(path, 'utf8') : '';
      await writeFile(path, makeExamples(existing, mapping, tenant, columns, read));
      output.note(
        `${file}: added ${quantity(read.length, 'example')} with masked values; review whether they show what you intend`,
      );
    }
  } finally {
    await source.close();
  }
}
