/**
 * Compares the mappings of a sync with its live source: first the catalog and the columns, then real rows. It only
 * reads.
 */
import { checkFeeds } from './check-feeds.js';
import { probeMapping } from './probe-mapping.js';
import { readTenantList } from '../reading/read-tenant-list.js';
import { PartnerSyncError } from '../domain/errors.js';
import type { Finding } from '../domain/sync/finding.js';
import type { Probe, ProbeBudget } from '../domain/records/probe.js';
import type { SourceTable } from '../domain/source/source-catalog.js';
import type { Source, SourceColumn } from '../domain/source/source.js';
import type { TenantRule, MappingSpec, SyncSpec } from '../domain/sync/sync.js';
import { checkColumns } from '../mapping/compile/check-columns.js';
import { checkTable } from '../mapping/check/check-table.js';
import { checkRows } from '../mapping/check/check-rows.js';
import { compileMapping } from '../mapping/compile/compile-mapping.js';
import { formatPath, type Locate, type Path } from '../mapping/language/place.js';
import { watchingPurity } from '../mapping/transforms/custom/pure-call.js';
import { readPlanOf } from '../mapping/compile/read-plan.js';
import { openSource } from '../source/open-source.js';

/** What `partner-sync check` learns from the source, beyond what the files alone show. */
export interface LiveCheck {
  readonly findings: readonly Finding[];
  /**
   * How many rows were read of each mapping, and whether that was all of them. A mapping that cannot run is left out.
   */
  readonly probes: readonly ({ readonly mapping: string } & Pick<Probe, 'rows' | 'all'>)[];
}

/**
 * Checks all mappings in the order of the files and collects every finding, since a person wants to fix all of them at
 * once. Errors with a code become findings at `source` in the mapping's file; only an unforeseen error is thrown.
 *
 * `onDisk` is the sync as loaded from its files. `budget` limits the rows and the time that each mapping may take;
 * `rows: 0` compares columns only. Opens and closes the source's connections itself.
 */
export async function checkLive(onDisk: SyncSpec, locate: Locate, budget: ProbeBudget): Promise<LiveCheck> {
  const source = openSource(onDisk.source);
  const findings: Finding[] = [];
  const probes: LiveCheck['probes'][number][] = [];
  try {
    // A wrong address or password is one mistake, not one of each mapping.
    const unusable = await whyUnusable(onDisk, source, locate);
    if (unusable !== null) return { findings: [unusable], probes };
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
        if (error.code === 'source_unreachable') {
          // The next mappings would each wait for the same connection timeout and report the same thing.
          return { findings: [...findings, ofSource(onDisk, error, locate)], probes };
        }
        findings.push(ofMapping(mapping, error, locate));
      }
    }
    findings.push(...(await feedFindings(sync, source, locate)));
  } finally {
    await source.close();
  }
  return { findings, probes };
}

/** What is wrong with the change feeds; that one cannot be asked for is a finding, too. */
async function feedFindings(sync: SyncSpec, source: Source, locate: Locate): Promise<Finding[]> {
  try {
    return await checkFeeds(sync, source, locate);
  } catch (error) {
    if (!(error instanceof PartnerSyncError)) throw error;
    return [fromError(`${sync.name}/sync.yaml`, ['changes'], error, locate)];
  }
}

/** The finding if nothing can be read from the source; null if it answers. */
async function whyUnusable(sync: SyncSpec, source: Source, locate: Locate): Promise<Finding | null> {
  try {
    await source.server();
    return null;
  } catch (error) {
    if (!(error instanceof PartnerSyncError)) throw error;
    return ofSource(sync, error, locate);
  }
}

/**
 * The rule with its list of tenants read from the source, if the list is a table there. Without a usable list no row
 * can be mapped, so a finding takes the place of all others.
 */
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
  // Describing the table would fail with a driver's error; the catalog allows a finding that names the missing GRANT.
  if (table?.readable === false) {
    const { account } = await source.server();
    return { findings: checkTable(sync, mapping, table, account, locate), probe: null };
  }
  const columns = await source.describe(mapping.relation);
  const findings = checkColumns(mapping, sync.tenant, columns, locate);
  const probe =
    findings.some((f) => f.severity === 'error') || budget.rows === 0
      ? null
      : await probeMapping(mappedSourceOf(sync, mapping, source, columns, locate), budget);
  if (table !== undefined) {
    // A count is better than the planner's estimate, which a new table does not have yet.
    const estimatedRows = probe?.all ? probe.rows : table.estimatedRows;
    findings.push(...checkTable(sync, mapping, { ...table, estimatedRows }, null, locate));
  }
  if (probe === null) return { findings, probe };
  return { findings: [...findings, ...checkRows(mapping, probe, locate)], probe: { rows: probe.rows, all: probe.all } };
}

/**
 * The catalog's entry of the table; undefined for a query, and for a table that the catalog does not know. Describing
 * the relation then reports what is missing.
 */
async function catalogued(mapping: MappingSpec, source: Source): Promise<SourceTable | undefined> {
  return 'table' in mapping.relation ? (await source.tables([mapping.relation.table]))[0] : undefined;
}

/** The mapping compiled against the columns as they are now, ready to read: what a run would do with the same files. */
function mappedSourceOf(
  sync: SyncSpec,
  mapping: MappingSpec,
  source: Source,
  columns: readonly SourceColumn[],
  locate: Locate,
) {
  const { map } = compileMapping(mapping, sync.tenant, columns, locate);
  const watched: typeof map = (row, records) => watchingPurity(() => map(row, records));
  return { source, plan: readPlanOf(mapping, sync.tenant), mapper: () => watched };
}

const ofMapping = ({ file, relation }: MappingSpec, error: PartnerSyncError, locate: Locate): Finding =>
  fromError(file, 'query' in relation ? ['source', 'query'] : ['source'], error, locate);

const ofSource = ({ name }: SyncSpec, error: PartnerSyncError, locate: Locate): Finding =>
  fromError(`${name}/sync.yaml`, ['source', 'connection'], error, locate);

/** Findings name the place themselves, so the prefix that errors of the source carry is dropped. */
const fromError = (file: string, path: Path, error: PartnerSyncError, locate: Locate): Finding => ({
  severity: 'error',
  kind: error.code,
  file,
  ...placeOnly(locate(file, path)),
  path: formatPath(path),
  message: error.message.replace(/^source: /, ''),
});

const placeOnly = ({ line, column }: { line: number; column: number }) => ({ line, column });
