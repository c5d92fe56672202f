/** Checks mappings that fill one schema together: to the platform, two of their records with the same external id are one. */
import { removesRecords, type MappingSpec } from '../../domain/sync/sync.js';
import { parseTemplate } from '../language/template.js';
import type { CheckedMapping } from './check-references.js';

/** Warns of each mapping that marks records as deleted if those may be the records of another mapping, too. */
export function checkSharedSchemas(mappings: readonly CheckedMapping[]): void {
  for (const { spec, file } of mappings) {
    if (!removesRecords(spec)) continue;
    const others = mappings.filter(
      (other) => other.spec !== spec && other.spec.schema.name === spec.schema.name && mayShareIds(other.spec, spec),
    );
    if (others.length === 0) continue;
    const names = others.map((other) => other.spec.name).join(', ');
    file.report(
      'schema_shared',
      ['schema'],
      `is also filled by ${names}: if rows of both have the same external id, each overwrites the record of the other, and may mark it as deleted`,
      'value',
      'warning',
    );
  }
}

/** Ids that begin with different texts are never the same: `a-{id}` and `b-{id}`. */
function mayShareIds(a: MappingSpec, b: MappingSpec): boolean {
  const [one, two] = [beginningOf(a), beginningOf(b)];
  return one.startsWith(two) || two.startsWith(one);
}

/** The text with which all external ids of the mapping begin. */
function beginningOf({ fields, schema }: MappingSpec): string {
  const field = fields.get(schema.externalIdField);
  if (field?.kind !== 'template' || field.transforms.length > 0) return '';
  const parsed = parseTemplate(field.template);
  const first = 'parts' in parsed ? parsed.parts[0] : undefined;
  return first?.kind === 'text' ? first.text : '';
}
