/** `partner-sync mapping test`: the examples beside the mappings, run as tests; `--record` writes new ones. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { readTenantList } from '../../../activities/tenant-list.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { formatFinding } from '../../domain/finding.js';
import type { Finding } from '../../domain/finding.js';
import type { MappingSpec, SyncSpec } from '../../domain/sync.js';
import { runExamples } from '../../mapping/examples.js';
import type { ExampleRow } from '../../mapping/examples.js';
import { loadSync } from '../../mapping/load-sync.js';
import { readPlanOf } from '../../mapping/read-plan.js';
import { recordExamples } from '../../mapping/record-examples.js';
import { readSyncFolder } from '../../mapping/sync-folder.js';
import { openSource } from '../../source/open-source.js';
import { count } from '../arguments.js';
import { chosenMappings } from '../chosen-mappings.js';
import { EXIT, look } from '../command-context.js';
import type { Output } from '../output.js';
import { printable } from '../table.js';

interface MappingTestFlags {
  json?: boolean;
  mapping?: string[];
  record?: number;
}

interface Tested {
  readonly mapping: string;
  readonly passed: number;
  readonly failed: number;
  readonly findings: readonly Finding[];
}

export function addMapping(program: Command): void {
  const mapping = program.command('mapping').summary('work on mappings').description('Works on mappings.');
  mapping
    .command('test')
    .summary('run the examples beside the mappings')
    .description(
      'Runs <mapping>.examples.yaml beside each mapping: rows in, records out. Needs no database, unless it records.',
    )
    .argument('<sync>', 'folder in the mappings folder')
    .option('--mapping <name...>', 'only these mappings')
    .option('--record <N>', 'first add examples from N rows of the source, masked', count)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `\nExamples:\n  partner-sync mapping test online-retail\n  partner-sync mapping test online-retail --mapping customers --record 3\n\nExit codes: 0 all as the examples say; 1 some not; 2 wrong usage or configuration`,
    )
    .action(
      look<[string], MappingTestFlags>(async ({ parts, output }, name, options) => {
        const folder = await parts.mappingsFolder();
        const sync = await loadSync(folder, name, parts.env);
        const chosen = chosenMappings(sync, options.mapping);
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
    ? `${mapping}: no examples; --record 3 writes some`
    : `${mapping}: ${passed} passed, ${failed} failed`,
];

async function record(folder: string, sync: SyncSpec, chosen: readonly string[], rows: number, output: Output) {
  const { examples } = await readSyncFolder(folder, sync.name);
  const source = openSource(sync.source);
  try {
    const tenant = sync.tenant.kind === 'table' ? await readTenantList(source, sync.tenant) : sync.tenant;
    for (const mapping of sync.mappings.filter((m) => chosen.includes(m.name))) {
      const file = examples.get(mapping.name) ?? `${sync.name}/${mapping.name}.examples.yaml`;
      if (file.endsWith('.json'))
        throw new PartnerSyncError('input_invalid', `${file}: --record writes YAML; rename the file to .examples.yaml`);
      const { columns, rows: read } = await readRows(source, mapping, sync, rows);
      const path = join(folder, file);
      const existing = examples.has(mapping.name) ? await readFile(path, 'utf8') : '';
      await writeFile(path, recordExamples(existing, mapping, tenant, columns, read));
      output.note(`${file}: ${read.length} examples added, masked; look whether they show what you mean`);
    }
  } finally {
    await source.close();
  }
}

async function readRows(
  source: ReturnType<typeof openSource>,
  mapping: MappingSpec,
  { tenant }: SyncSpec,
  limit: number,
): Promise<{ columns: Awaited<ReturnType<typeof source.describe>>; rows: ExampleRow[] }> {
  const columns = await source.describe(mapping.relation);
  const plan = { ...readPlanOf(mapping, tenant), cursor: null };
  const everything = { after: null, cursorFrom: null, cursorBefore: null, throughKey: null };
  const page = await source.readPage(plan, everything, limit);
  const rows = Array.from(page.rows, (row) =>
    Object.fromEntries(plan.columns.map((name, i) => [name, row[i] ?? null])),
  );
  return { columns, rows };
}
