/** Prints a preview: each row beside its record, and what a run would do with it. */
import type { Preview, PreviewedRow, Prediction } from '../../inspection/preview-mapping.js';
import type { JsonValue } from '../../domain/values/json.js';
import type { FieldSpec, MappingSpec } from '../../domain/sync/sync.js';
import { fieldColumns } from '../../mapping/compile/read-plan.js';
import { maskedShape } from '../../mapping/encode/masked-shape.js';
import { formatCount, quantity } from '../../domain/values/quantity.js';
import type { WaitingRows } from '../../inspection/waiting-children.js';
import { printable, table } from './text-table.js';

/** Prints a value. Masked by default: others see a terminal, and its text is pasted into tickets. */
export type Show = (value: JsonValue | undefined) => string;

/** The shape of a value, such as its length, without the value. */
export const masked: Show = (value) => (value === null || value === undefined ? 'null' : maskedShape(value));
/** The value itself, as JSON; for `--show-values`. */
export const plain: Show = (value) => JSON.stringify(value ?? null);

const SIGNS: Readonly<Record<Prediction, string>> = {
  new: '+ new',
  changed: '~ changed',
  unchanged: '= unchanged',
  fails: '! would fail',
};

/** The preview for people: counts, reasons of failures with the number of their rows, and examples. */
export function previewLines(preview: Preview, spec: MappingSpec, show: Show): string[] {
  const heading = `read ${quantity(preview.rows, 'row')}${preview.all ? ', all that a run would read' : '; use --limit for more'}`;
  return [
    `${preview.mapping} -> ${spec.schema.name}: ${heading}`,
    ...Object.entries(SIGNS).map(
      ([prediction, sign]) => `  ${sign.padEnd(14)} ${formatCount(preview.counts[prediction as Prediction])}`,
    ),
    ...preview.failures.map((f) => `      ${formatCount(f.rows)}: ${f.pointer} ${f.rule} (${f.reason})`),
    ...waitingLines('      would wait for them', preview.waiting),
    ...preview.missingParents.flatMap(({ schema, parents, waiting }) => [
      `  ! missing       ${quantity(parents, 'parent')} of schema ${schema}: neither on the platform nor among the rows that a run would read`,
      ...waitingLines(`      would wait for ${parents === 1 ? 'it' : 'them'}`, waiting),
    ]),
    ...preview.examples.flatMap((row) => ['', ...rowLines(row, spec, show)]),
    '',
  ];
}

/** What would wait, by mapping: only among the rows that were read, so there may be more. */
function waitingLines(begin: string, waiting: readonly WaitingRows[]): string[] {
  const read = waiting.filter(({ rows }) => rows !== null);
  const unread = waiting.filter(({ rows }) => rows === null).map(({ mapping }) => mapping);
  return [
    ...(read.length === 0
      ? []
      : [`${begin}, of the rows read: ${read.map((w) => `${quantity(w.rows!, 'row')} of ${w.mapping}`).join(', ')}`]),
    ...(unread.length === 0 ? [] : [`${begin}: perhaps rows of ${unread.join(', ')}, which were not read`]),
  ];
}

/**
 * One example. A row that failed shows the field that failed; a changed record shows only the fields that differ, with
 * what the platform has; a new one shows all fields.
 */
function rowLines(row: PreviewedRow, spec: MappingSpec, show: Show): string[] {
  const { result, stored } = row;
  const id =
    result.externalId === null
      ? '(no external id)'
      : show === plain
        ? printable(result.externalId)
        : show(result.externalId);
  const title = `  ${SIGNS[row.prediction]}  ${spec.schema.name} ${id}  tenant ${result.tenant ?? '(unknown)'}`;
  if (result.kind === 'failed')
    return [
      title,
      ...indented(
        table(
          ['field', 'row', 'problem'],
          fieldsAt(result.pointer, spec).map(([field, of]) => [
            field,
            sourceOf(row, of, show),
            `${result.rule}: ${result.reason}`,
          ]),
        ),
      ),
      ...waitingLines('      would wait for it', row.waiting),
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

/** The columns that a field is made of, with their values: `first_name "Anna"`. A constant has none. */
function sourceOf({ columns, row }: PreviewedRow, spec: FieldSpec, show: Show): string {
  const parts = fieldColumns(spec).map((name) => {
    const index = columns.findIndex((column) => column.name === name);
    return `${name} ${show(row[index])}`;
  });
  return parts.length === 0 ? '(constant)' : parts.join(', ');
}

/** The field that a failure is about; all fields if it is about the record as a whole. */
function fieldsAt(pointer: string, spec: MappingSpec): [string, FieldSpec][] {
  const name = pointer.split('/')[1];
  const field = name === undefined ? undefined : spec.fields.get(name);
  return field === undefined ? [...spec.fields] : [[name!, field]];
}

const indented = (lines: readonly string[]): string[] => lines.map((line) => `      ${line}`);

/** The preview for `--json`, with the same values as in {@link previewLines}, masked or not. */
export const previewJson = ({ examples, ...rest }: Preview, spec: MappingSpec, show: Show): object => ({
  ...rest,
  schema: spec.schema.name,
  examples: examples.map(({ prediction, columns, row, result, stored, waiting }) => ({
    prediction,
    tenant: result.tenant,
    externalId: show(result.externalId),
    row: Object.fromEntries(columns.map((column, i) => [column.name, show(row[i])])),
    ...(result.kind === 'record'
      ? { record: Object.fromEntries(Object.entries(result.data).map(([field, value]) => [field, show(value)])) }
      : { pointer: result.pointer, rule: result.rule, reason: result.reason, waiting }),
    ...(stored !== null && { differs: stored.differs }),
  })),
});
