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
import type { Env } from '../../config/environment.js';
import { readTenantList } from '../../reading/read-tenant-list.js';
import { quantity } from '../../domain/values/quantity.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { formatFinding, type Finding } from '../../domain/sync/finding.js';
import type { SyncSpec } from '../../domain/sync/sync.js';
import { runExamples } from '../../mapping/check/run-examples.js';
import { readExampleRows } from '../../inspection/example-rows.js';
import { makeExamples } from '../../mapping/check/make-examples.js';
import { loadSync } from '../../mapping/load-sync.js';
import { listSyncs, readSyncFolder } from '../../mapping/sync-folder.js';
import { withStandIns } from '../../mapping/check/stand-ins.js';
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
  const mapping = program.command('mapping').description('Tests mappings.');
  mapping
    .command('test')
    .summary('run the examples beside the mappings')
    .description(
      'Runs <mapping>.examples.yaml beside each mapping: rows in, records out. Needs no database, except with --record.',
    )
    .argument('[sync]', 'folder in the mappings folder; by default each')
    .option('--mapping <name...>', 'only these mappings')
    .option('--record <N>', 'first add examples from N rows of the source, with masked values', count)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `\nExamples:\n  partner-sync mapping test online-retail\n  partner-sync mapping test online-retail --mapping customers --record 3\n\nExit codes: 0 all examples pass; 1 some fail; 2 wrong usage or configuration`,
    )
    .action(
      withViewParts<[string | undefined], MappingTestFlags>(async ({ parts, output }, given, options) => {
        const folder = await parts.mappingsFolder();
        if (given === undefined && (options.mapping ?? options.record) !== undefined)
          throw new PartnerSyncError('input_invalid', '--mapping and --record need the name of a sync');
        if (options.record !== undefined) {
          const { spec } = await parts.loadSync(given!);
          await record(folder, spec, mappingsInOrder(spec, options.mapping), options.record, output);
        }
        const syncs: { sync: string; mappings: Tested[] }[] = [];
        for (const name of given === undefined ? await listSyncs(folder) : [given])
          syncs.push({ sync: name, mappings: await testOne(folder, name, parts.env, options.mapping) });
        output.result(given === undefined ? { syncs } : syncs[0]!, () =>
          syncs.length === 0
            ? [`There is no sync in ${folder} yet; draft one with partner-sync init.`]
            : syncs.flatMap(({ sync, mappings }) => [
                ...(given === undefined ? [`${sync}:`] : []),
                ...mappings.flatMap(linesOf),
              ]),
        );
        return syncs.some(({ mappings }) => mappings.some(({ failed }) => failed > 0)) ? EXIT.failed : EXIT.done;
      }),
    );
}

/** Runs the examples of a sync; the variables that its files name need not be set. */
async function testOne(folder: string, name: string, env: Env, mappings: readonly string[] | undefined) {
  const { spec: sync } = await loadSync(folder, name, await withStandIns(folder, name, env));
  const chosen = mappingsInOrder(sync, mappings);
  const { examples } = await readSyncFolder(folder, name);
  const tested: Tested[] = [];
  for (const mapping of sync.mappings.filter((m) => chosen.includes(m.name))) {
    const file = examples.get(mapping.name);
    const { passed, findings } =
      file === undefined ? { passed: 0, findings: [] } : await runExamples(folder, file, mapping, sync.tenant);
    tested.push({ mapping: mapping.name, passed, failed: findings.length, findings });
  }
  return tested;
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
