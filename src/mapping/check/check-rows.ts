/** Turns the result of probing real rows into findings, each at the place of the field in the mapping file. */
import type { Finding, FindingKind } from '../../domain/sync/finding.js';
import type { Probe, ProbeFailure } from '../../domain/records/probe.js';
import type { MappingSpec } from '../../domain/sync/sync.js';
import { formatPath, type Locate, type Path } from '../language/place.js';

/**
 * A rule that every probed row breaks is an error, one that only some rows break is a warning. A key, external id or
 * cursor that does not do its job is always an error: rows would be lost.
 */
export function checkRows(mapping: MappingSpec, probe: Probe, locate: Locate): Finding[] {
  const of = `${probe.all ? '' : 'the '}${count(probe.rows)} rows${probe.all ? '' : ' looked at'}`;
  const finding = (severity: Finding['severity'], kind: FindingKind, path: Path, message: string): Finding => {
    const { line, column } = locate(mapping.file, path);
    return { severity, kind, file: mapping.file, line, column, path: formatPath(path), message };
  };
  const findings = probe.failures.map((failure) =>
    // A rule that every row breaks is a mistake in the mapping; what some rows break is a matter of those rows.
    finding(
      failure.rows === probe.rows ? 'error' : 'warning',
      'rows_fail',
      placeOf(failure),
      `${count(failure.rows)} of ${of}: ${failure.pointer} ${failure.rule} (${failure.reason}${failure.shape === '' ? '' : `; such as ${failure.shape}`}). ${REMEDY[failure.rows === probe.rows ? 'every' : 'some']}`,
    ),
  );
  if (probe.sameKey > 0)
    findings.push(
      finding(
        'error',
        'key_not_unique',
        ['key'],
        `${count(probe.sameKey)} of ${of} have the same key (${mapping.key.join(', ')}) as another; rows could be lost between pages. Name columns that are unique together`,
      ),
    );
  if (probe.nullCursor > 0)
    findings.push(
      finding(
        'error',
        'cursor_null',
        ['cursor'],
        `${count(probe.nullCursor)} of ${of} have no value in the cursor ${mapping.cursor!.column}; incremental runs refuse them, since they would never be read. Fill it, use coalesce in a query, or leave the cursor out`,
      ),
    );
  if (probe.sameExternalId > 0)
    findings.push(
      finding(
        'error',
        'external_id_not_unique',
        ['fields', mapping.schema.externalIdField],
        `${count(probe.sameExternalId)} of ${of} have the same external id as another; on the platform they would be one record. Make it unique`,
      ),
    );
  return findings;
}

const REMEDY = {
  every: 'Correct the mapping',
  some: 'They would become dead letters: correct the rows, or the mapping',
} as const;

/** `/email` gives `fields.email`. An empty pointer means the tenant, whose column is read from `source`. */
function placeOf({ pointer }: ProbeFailure): Path {
  const field = pointer.split('/')[1]?.replaceAll('~1', '/').replaceAll('~0', '~');
  return field === undefined || field === '' ? ['source'] : ['fields', field];
}

const count = (n: number): string => n.toLocaleString('en-GB');
