/** What `dev` knows of the syncs in a mappings folder: the findings of their files, and their latest runs. */
import { ERROR_CATALOGUE, type ErrorCode } from '../domain/errors.js';
import { formatFinding, type Finding } from '../domain/sync/finding.js';
import type { TenantConfig } from '../domain/sync/sync.js';
import { tenantsTold } from '../domain/sync/tenants-told.js';
import { quantity } from '../domain/values/quantity.js';
import type { Env } from '../config/environment.js';
import { printable } from '../cli/output/text-table.js';
import { shownRun, type ShownRun } from '../cli/runs/run-status.js';
import type { ViewParts } from '../composition/parts.js';
import { checkSyncFiles } from '../mapping/load-sync.js';
import { listSyncs } from '../mapping/sync-folder.js';

/** One sync. */
export interface OverviewEntry {
  readonly sync: string;
  /** The findings of `check --offline`, as it prints them; the errors first. */
  readonly findings: readonly string[];
  /** `ok`, or `2 errors, 1 warning`; only `check` compares them with the database. */
  readonly files: string;
  /** Tenants that its files name; none while they have errors. */
  readonly tenants: readonly string[];
  readonly latest: ShownRun | undefined;
}

/** All syncs of the folder, by name. */
export interface SyncOverview {
  readonly entries: readonly OverviewEntry[];
  /** Checks all files again. Returns an entry for each sync whose findings have changed, or that is new. */
  readFiles(): Promise<readonly OverviewEntry[]>;
  /** Looks up the latest runs. Returns those that have begun or ended since the last call. */
  readRuns(): Promise<readonly ShownRun[]>;
}

/** An overview that is empty at first. `env` are the variables of the worker, which files may name. */
export function openSyncOverview(folder: string, env: Env, parts: Pick<ViewParts, 'ledgerIfAny'>): SyncOverview {
  let checked: Omit<OverviewEntry, 'latest'>[] = [];
  let latest = new Map<string, ShownRun>();
  let looked = false;
  const entryOf = (entry: Omit<OverviewEntry, 'latest'>): OverviewEntry => ({
    ...entry,
    latest: latest.get(entry.sync),
  });
  return {
    get entries() {
      return checked.map(entryOf);
    },
    async readFiles() {
      const before = new Map(checked.map(({ sync, findings }) => [sync, findings.join('\n')]));
      checked = await Promise.all((await listSyncs(folder)).map((sync) => check(folder, sync, env)));
      return checked.filter(({ sync, findings }) => before.get(sync) !== findings.join('\n')).map(entryOf);
    },
    async readRuns() {
      const ledger = await parts.ledgerIfAny();
      const rows = ledger === null ? [] : await Promise.all(checked.map(({ sync }) => ledger.runs.latest(sync, 1)));
      const before = latest;
      latest = new Map(rows.flatMap(([run]) => (run === undefined ? [] : [[run.sync, shownRun(run)]])));
      const changed = [...latest.values()].filter((run) => {
        const known = before.get(run.sync);
        return known?.run !== run.run || known.outcome !== run.outcome;
      });
      // What ended before `dev` was started is no news.
      const news = looked ? changed : changed.filter(({ outcome }) => outcome === 'running');
      looked = true;
      return news;
    },
  };
}

async function check(folder: string, sync: string, env: Env): Promise<Omit<OverviewEntry, 'latest'>> {
  const { findings, sync: spec } = await checkSyncFiles(folder, sync, env);
  const ofSeverity = (severity: Finding['severity']): Finding[] => findings.filter((f) => f.severity === severity);
  const [errors, warnings] = [ofSeverity('error'), ofSeverity('warning')];
  const counts = [
    ...(errors.length > 0 ? [quantity(errors.length, 'error')] : []),
    ...(warnings.length > 0 ? [quantity(warnings.length, 'warning')] : []),
  ];
  return {
    sync,
    findings: [...errors, ...warnings].map((finding) => printable(formatFinding(finding))),
    files: counts.join(', ') || 'ok',
    tenants: spec === null ? [] : tenantsOf(spec.tenant),
  };
}

/** Those that the files name; a list in the source is read only by runs. */
const tenantsOf = (tenant: TenantConfig): readonly string[] => (tenant.kind === 'table' ? [] : tenantsTold(tenant));

/** `run 3 of shop (incremental): complete`; of a failed one the reason, and in a second line what to do. */
export function runLines({ run, sync, mode, outcome, failure }: ShownRun): string[] {
  const words = outcome.replaceAll('_', ' ');
  if (failure === null) return [`run ${run} of ${sync} (${mode}): ${words}`];
  const remedy = failure.code in ERROR_CATALOGUE ? ERROR_CATALOGUE[failure.code as ErrorCode].remedy : undefined;
  const line = `run ${run} of ${sync} (${mode}): ${words}: ${failure.code}: ${printable(failure.message)}`;
  return [line, ...(remedy === undefined ? [] : [`  ${remedy}`])];
}
