/** Holds the mappings of a sync against its live source: columns, then real rows. Reads only. */
import { probeMapping } from '../../activities/probe-mapping.js';
import { readTenantList } from '../../activities/tenant-list.js';
import { PartnerSyncError } from '../domain/errors.js';
import type { Finding } from '../domain/finding.js';
import type { Probe, ProbeBudget } from '../domain/probe.js';
import type { SourceTable } from '../domain/source-catalog.js';
import type { Source, SourceColumn } from '../domain/source.js';
import type { TenantRule, MappingSpec, SyncSpec } from '../domain/sync.js';
import { checkColumns } from '../mapping/check-columns.js';
import { checkTable } from '../mapping/check-table.js';
import { checkRows } from '../mapping/check-rows.js';
import { compileMapping } from '../mapping/compile-mapping.js';
import type { Locate } from '../mapping/place.js';
import { readPlanOf } from '../mapping/read-plan.js';
import { openSource } from '../source/open-source.js';

export interface LiveCheck {
  readonly findings: readonly Finding[];
  /** How much was looked at, mapping by mapping; absent where the mapping cannot run at all. */
  readonly probes: readonly ({ readonly mapping: string } & Pick<Probe, 'rows' | 'all'>)[];
}

export async function checkLive(onDisk: SyncSpec, locate: Locate, budget: ProbeBudget): Promise<LiveCheck> {
  const source = openSource(onDisk.source);
  const findings: Finding[] = [];
  const probes: LiveCheck['probes'][number][] = [];
  try {
    const tenant = await tenantRule(onDisk, source, locate);
    if ('finding' in tenant) return { findings: [tenant.finding], probes };
    const sync = { ...onDisk, tenant: tenant.rule };
    for (const mapping of sync.mappings) {
      try {
        const checked = await checkMapping(sync, mapping, source, locate, budget);
        findings.push(...checked.findings);
        if (checked.probe !== null) probes.push({ mapping: mapping.name, ...checked.probe });
      } catch (error) {
        if (!(error instanceof PartnerSyncError)) throw error;
        findings.push(fromError(mapping, error, locate));
        if (error.code === 'source_unreachable') break;
      }
    }
  } finally {
    await source.close();
  }
  return { findings, probes };
}

async function tenantRule(
  { name, tenant }: SyncSpec,
  source: Source,
  locate: Locate,
): Promise<{ rule: TenantRule } | { finding: Finding }> {
  if (tenant.kind !== 'table') return { rule: tenant };
  try {
    return { rule: await readTenantList(source, tenant) };
  } catch (error) {
    if (!(error instanceof PartnerSyncError)) throw error;
    const [file, path] = [`${name}/sync.yaml`, ['tenant', 'from']];
    const { code: kind, message } = error;
    const place = placeOnly(locate(file, path));
    return { finding: { severity: 'error', kind, file, ...place, path: path.join('.'), message } };
  }
}

async function checkMapping(
  sync: SyncSpec,
  mapping: MappingSpec,
  source: Source,
  locate: Locate,
  budget: ProbeBudget,
): Promise<{ findings: Finding[]; probe: Pick<Probe, 'rows' | 'all'> | null }> {
  const table = await catalogued(mapping, source);
  if (table?.readable === false) {
    const { account } = await source.server();
    return { findings: checkTable(sync, mapping, table, account, locate), probe: null };
  }
  const columns = await source.describe(mapping.relation);
  const findings = checkColumns(mapping, sync.tenant, columns, locate);
  const probe =
    findings.some((f) => f.severity === 'error') || budget.rows === 0
      ? null
      : await probeMapping(readingOf(sync, mapping, source, columns, locate), budget);
  if (table !== undefined) {
    // Counting beats the planner's guess, which a new table does not have.
    const estimatedRows = probe?.all ? probe.rows : table.estimatedRows;
    findings.push(...checkTable(sync, mapping, { ...table, estimatedRows }, null, locate));
  }
  if (probe === null) return { findings, probe };
  return { findings: [...findings, ...checkRows(mapping, probe, locate)], probe: { rows: probe.rows, all: probe.all } };
}

/** undefined for a query, and where the catalogue does not know the table: describing it says why. */
async function catalogued(mapping: MappingSpec, source: Source): Promise<SourceTable | undefined> {
  return 'table' in mapping.relation ? (await source.tables([mapping.relation.table]))[0] : undefined;
}

function readingOf(
  sync: SyncSpec,
  mapping: MappingSpec,
  source: Source,
  columns: readonly SourceColumn[],
  locate: Locate,
) {
  const { map } = compileMapping(mapping, sync.tenant, columns, locate);
  return { source, plan: readPlanOf(mapping, sync.tenant), mapper: () => map };
}

const fromError = (mapping: MappingSpec, error: PartnerSyncError, locate: Locate): Finding => ({
  severity: 'error',
  kind: error.code,
  file: mapping.file,
  ...placeOnly(locate(mapping.file, ['source'])),
  path: 'source',
  message: error.message.replace(/^source: /, ''),
});

const placeOnly = ({ line, column }: { line: number; column: number }) => ({ line, column });
