/** Turns the result of probing real rows into findings, each at the place of the field in the mapping file. */
import type { Finding, FindingKind } from '../../domain/sync/finding.js';
import type { CountedRows, Probe, ProbeFailure } from '../../domain/records/probe.js';
import { formatCount, quantity } from '../../domain/values/quantity.js';
import type { MappingSpec } from '../../domain/sync/sync.js';
import { formatPath, type Locate, type Path } from '../language/place.js';

/**
 * A rule that every probed row breaks is an error, one that only some rows break is a warning. A key, external id or
 * cursor that does not do its job is always an error: rows would be lost.
 */
export function checkRows(mapping: MappingSpec, probe: Probe, locate: Locate): Finding[] {
  const of = `${probe.all ? '' : 'the '}${quantity(probe.rows, 'row')}${probe.all ? '' : ' looked at'}`;
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
      `${formatCount(failure.rows)} of ${of}: ${failure.pointer} ${failure.rule} (${failure.reason}${failure.shape === '' ? '' : `; such as ${failure.shape}`})${named(mapping, failure)}. ${failure.rows === probe.rows ? 'Correct the mapping' : `${failure.rows === 1 ? 'It would become a dead letter' : 'They would become dead letters'}: correct the ${failure.rows === 1 ? 'row' : 'rows'}, or the mapping`}`,
    ),
  );
  if (probe.sameKey.rows > 0)
    findings.push(
      finding(
        'error',
        'key_not_unique',
        ['key'],
        `${have(probe.sameKey, of)} the same key (${mapping.key.join(', ')}) as another${named(mapping, probe.sameKey)}; a run that reads them fails. Name columns that are unique together`,
      ),
    );
  if (mapping.feed === null && probe.nullCursor.rows > 0)
    findings.push(
      finding(
        'error',
        'cursor_null',
        ['cursor'],
        `${have(probe.nullCursor, of)} no value in the cursor ${mapping.cursor!.column}${named(mapping, probe.nullCursor)}; incremental runs refuse them, since they would never be read. Fill it, use coalesce in a query, or leave the cursor out`,
      ),
    );
  if (probe.sameExternalId.rows > 0)
    findings.push(
      finding(
        'error',
        'external_id_not_unique',
        ['fields', mapping.schema.externalIdField],
        `${have(probe.sameExternalId, of)} the same external id as another${named(mapping, probe.sameExternalId)}; on the platform they would be one record. Make it unique`,
      ),
    );
  return findings;
}

/** `/email` gives `fields.email`. An empty pointer means the tenant, whose column is read from `source`. */
function placeOf({ pointer }: ProbeFailure): Path {
  const field = pointer.split('/')[1]?.replaceAll('~1', '/').replaceAll('~0', '~');
  return field === undefined || field === '' ? ['source'] : ['fields', field];
}

const have = ({ rows }: CountedRows, of: string): string =>
  `${formatCount(rows)} of ${of} ${rows === 1 ? 'has' : 'have'}`;

/** `; customer_id 7, 12, 19`: the rows by the values of their keys, as dead letters show them. */
function named({ key }: MappingSpec, { rows, examples }: CountedRows): string {
  const values = examples.map((row) => (row.length === 1 ? row[0] : `(${row.join(', ')})`));
  return `; ${key.length === 1 ? key[0] : `(${key.join(', ')})`} ${values.join(', ')}${rows > examples.length ? ' ...' : ''}`;
}
