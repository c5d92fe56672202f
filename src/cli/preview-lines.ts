/** A preview for people: the row on the left, the record on the right, and what would become of it. */
import type { Preview, PreviewedRow, Verdict } from '../../activities/preview-mapping.js';
import type { JsonValue } from '../domain/json.js';
import type { FieldSpec, MappingSpec } from '../domain/sync.js';
import { fieldColumns } from '../mapping/check-columns.js';
import { maskedShape } from '../mapping/mask.js';
import { table } from './table.js';

/** Masked unless somebody asked for the values: a terminal is looked at over shoulders, and its text is pasted. */
export type Show = (value: JsonValue | undefined) => string;

export const masked: Show = (value) => (value === null || value === undefined ? 'null' : maskedShape(value));
export const plain: Show = (value) => JSON.stringify(value ?? null);

const SIGNS: Readonly<Record<Verdict, string>> = {
  new: '+ new',
  changed: '~ changed',
  unchanged: '= unchanged',
  fails: '! would fail',
};

const count = (n: number): string => n.toLocaleString('en-GB');

export function previewLines(preview: Preview, spec: MappingSpec, show: Show): string[] {
  const looked = `${count(preview.rows)} rows looked at${preview.all ? ', all that a run would read' : '; --limit looks at more'}`;
  return [
    `${preview.mapping} -> ${spec.schema.name}: ${looked}`,
    ...Object.entries(SIGNS).map(
      ([verdict, sign]) => `  ${sign.padEnd(14)} ${count(preview.counts[verdict as Verdict])}`,
    ),
    ...preview.failures.map((f) => `      ${count(f.rows)}: ${f.pointer} ${f.rule} (${f.reason})`),
    ...preview.examples.flatMap((row) => ['', ...rowLines(row, spec, show)]),
    '',
  ];
}

function rowLines(row: PreviewedRow, spec: MappingSpec, show: Show): string[] {
  const { result, stored } = row;
  const id =
    result.externalId === null ? '(no external id)' : show === plain ? result.externalId : show(result.externalId);
  const title = `  ${SIGNS[row.verdict]}  ${spec.schema.name} ${id}  tenant ${result.tenant ?? '(unknown)'}`;
  if (result.kind === 'unmappable')
    return [
      title,
      ...indented(
        table(
          ['field', 'row', 'verdict'],
          fieldsAt(result.pointer, spec).map(([field, of]) => [
            field,
            sourceOf(row, of, show),
            `${result.rule}: ${result.reason}`,
          ]),
        ),
      ),
    ];
  const fields = [...spec.fields].filter(([field]) => stored === null || stored.differs.includes(field));
  const now = (field: string): string => (field in result.data ? show(result.data[field]) : '(left out)');
  return [
    title,
    ...indented(
      stored === null
        ? table(
            ['field', 'row', 'record'],
            fields.map(([field, of]) => [field, sourceOf(row, of, show), now(field)]),
          )
        : table(
            ['field', 'row', 'on the platform', 'record'],
            fields.map(([field, of]) => [field, sourceOf(row, of, show), show(stored.data[field]), now(field)]),
          ),
    ),
  ];
}

/** `first_name "Anna"`; a constant comes from nowhere. */
function sourceOf({ columns, row }: PreviewedRow, spec: FieldSpec, show: Show): string {
  const parts = fieldColumns(spec).map((name) => {
    const index = columns.findIndex((column) => column.name === name);
    return `${name} ${show(row[index])}`;
  });
  return parts.length === 0 ? '(constant)' : parts.join(', ');
}

/** The field that a failure points at; all of them where it is not one field's. */
function fieldsAt(pointer: string, spec: MappingSpec): [string, FieldSpec][] {
  const name = pointer.split('/')[1];
  const field = name === undefined ? undefined : spec.fields.get(name);
  return field === undefined ? [...spec.fields] : [[name!, field]];
}

const indented = (lines: readonly string[]): string[] => lines.map((line) => `      ${line}`);

/** The same for programs. */
export const previewJson = ({ examples, ...rest }: Preview, spec: MappingSpec, show: Show): object => ({
  ...rest,
  schema: spec.schema.name,
  examples: examples.map(({ verdict, columns, row, result, stored }) => ({
    verdict,
    tenant: result.tenant,
    externalId: show(result.externalId),
    row: Object.fromEntries(columns.map((column, i) => [column.name, show(row[i])])),
    ...(result.kind === 'record'
      ? { record: Object.fromEntries(Object.entries(result.data).map(([field, value]) => [field, show(value)])) }
      : { pointer: result.pointer, rule: result.rule, reason: result.reason }),
    ...(stored !== null && { differs: stored.differs }),
  })),
});
