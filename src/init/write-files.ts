/** Produces the files of a drafted sync, with comments that say what to decide. */
import { quantity } from '../domain/values/quantity.js';
import type { SourceTable } from '../domain/source/source-catalog.js';
import { DECIDE, type DraftField, type DraftMapping } from './draft.js';
import { describedBy } from './draft-field.js';
import { inWords } from './draft-names.js';
import type { FeedProposal } from './propose-feed.js';
import { commentLines, list, scalar } from './yaml-text.js';

/** A file to write. */
export interface DraftedFile {
  /** Inside the sync's folder. */
  readonly name: string;
  readonly text: string;
}

/** The mapping file of a table, in YAML. */
export function mappingFile(draft: DraftMapping): DraftedFile {
  const { table, name, key, cursor, deletes, fields, leftOut } = draft;
  const rows = table.estimatedRows === null ? '' : ` (about ${quantity(table.estimatedRows, 'row')})`;
  const references = fields.some((field) => '$ref' in field.property);
  const lines = [
    '# yaml-language-server: $schema=../mapping.schema.json',
    ...commentLines(
      `Drafted from the ${table.kind} ${table.table}${rows}.${table.comment === null ? '' : ` ${table.comment}`}`,
    ),
    '# NULL deletes a field on the platform; with { column: ..., omitNull: true } the platform keeps what it has.',
    '',
    ...(draft.schemaComment === null ? [] : commentLines(draft.schemaComment)),
    `schema: ${scalar(draft.schemaName)}`,
    'source:',
    `  table: ${scalar(table.table)}`,
    `key: ${list(key)}`,
    ...draft.cursorComments.flatMap((comment) => commentLines(comment)),
    ...(cursor === null ? [] : ['cursor:', `  column: ${scalar(cursor.column)}`, '  overlap: 10m']),
    ...(cursor === null || cursor.zone === null ? [] : [`  zone: ${scalar(cursor.zone)}`]),
    ...(deletes === null ? [] : deletesLines(deletes, fields)),
    '',
    'fields:',
    ...fields.flatMap((field) => [
      ...field.comments.flatMap((comment) => commentLines(comment, '  ')),
      `  ${scalar(field.name)}: ${field.written}`,
    ]),
    ...(leftOut.length === 0 ? [] : ['', '# Left out:', ...leftOut.flatMap((why) => commentLines(why))]),
    ...(references
      ? [
          '',
          'options:',
          '  # How long a record may be pending on the platform until its parent arrives.',
          '  dependencyWaitTimeout: 10m',
        ]
      : []),
  ];
  return { name: `${name}.mapping.yaml`, text: `${lines.join('\n')}\n` };
}

/** A deleted row is not sent if it never was; what becomes of a record that is on the platform already, a person decides. */
function deletesLines(
  { column, values }: NonNullable<DraftMapping['deletes']>,
  fields: readonly DraftField[],
): readonly string[] {
  const field = fields.find(({ required, property }) => !required && !('$ref' in property))?.name;
  const change =
    field === undefined
      ? 'set or clear some of their fields'
      : `change, for example action: { clear: [${scalar(field)}] }`;
  return [
    ...commentLines(
      `${DECIDE} ${column} seems to mark deleted rows. Their records stay on the platform as they are (ignore), or ${change}.`,
    ),
    'deletes:',
    `  column: ${scalar(column)}`,
    ...(values === null ? [] : [`  values: ${list(values)}`]),
    '  action: ignore',
  ];
}

/** The schema definition of a table, in the form of 4.4. */
export function definitionFile(draft: DraftMapping): DraftedFile {
  const definition = {
    $schema: '../schema-definition.schema.json',
    name: draft.schemaName,
    pluralName: draft.pluralName,
    // Always present, since 4.4 does not show which fields are required.
    ...describedBy({ comment: draft.table.comment?.trim() || inWords(draft.table.name) }),
    category: draft.category,
    externalIdField: draft.externalIdField,
    schema: {
      type: 'object',
      properties: Object.fromEntries(draft.fields.map((field) => [field.name, field.property])),
      required: draft.fields.filter((field) => field.required).map((field) => field.name),
      additionalProperties: false,
    },
  };
  return { name: `${draft.schemaName}.schema.json`, text: `${JSON.stringify(definition, null, 2)}\n` };
}

/** What the sync file contains. */
export interface SyncFacts {
  readonly product: string;
  /** The environment variable that holds the source's address. */
  readonly variable: string;
  readonly tenant: string | null;
  /** Columns that seem to name a tenant. */
  readonly tenantColumns: readonly string[];
  /** Tables without a key that could identify a record. */
  readonly keyless: readonly SourceTable[];
  /** How runs find what has changed. */
  readonly feed: FeedProposal;
}

/** A placeholder for the tenant. It is not a valid tenant id, so `check` reports its place. */
export const TENANT_TO_FILL_IN = '<the id of your tenant on the platform>';

const BY_TIME = [
  '#   - name: quarter-hourly',
  '#     every: 15m',
  '#   - name: nightly-full',
  '#     mode: full',
  '#     cron: 30 3 * * *',
];

/** Without a time: its run follows the change feed. */
const ALWAYS_ON = ['#   - name: live', '#     mode: live'];

/** The sync file, `sync.yaml`, in YAML. */
export function syncFile(facts: SyncFacts): DraftedFile {
  const { tenantColumns: columns, keyless } = facts;
  const lines = [
    '# yaml-language-server: $schema=../sync.schema.json',
    ...commentLines(
      `Drafted from a ${facts.product} database. Lines marked ${DECIDE.slice(0, -1)} need a person's decision.`,
    ),
    '',
    'source:',
    `  connection: \${env:${facts.variable}}`,
    '',
    ...(facts.tenant === null ? commentLines(`${DECIDE} the platform's tenant that all rows belong to.`) : []),
    ...columns.flatMap((column) =>
      commentLines(
        `${DECIDE} every table has ${column}. If it says which tenant a row belongs to: tenant: { column: ${column}, values: { "<its value>": <tenant> } }`,
      ),
    ),
    `tenant: ${scalar(facts.tenant ?? TENANT_TO_FILL_IN)}`,
    '',
    ...facts.feed.why.flatMap((line) => commentLines(line)),
    ...(facts.feed.changes === null
      ? []
      : [`${facts.feed.state === 'ready' ? '' : '# '}changes: ${facts.feed.changes}`]),
    '',
    '# After a first run that reconcile has verified:',
    '# schedules:',
    ...(facts.feed.state === 'ready' ? ALWAYS_ON : BY_TIME),
    '#',
    '# Who is told when something is wrong:',
    '# alerts:',
    '#   - webhook: ${env:ALERT_URL}',
    '#',
    '# How much of a table a run may change before it waits for approval:',
    '# guard:',
    '#   changed: 30 %',
    '#   deadLettered: 5 %',
    '#   gone: 1 %',
    ...(keyless.length === 0
      ? []
      : [
          '',
          ...commentLines(
            'These tables have no key that could identify a record, so they got no mapping. To sync one, write a mapping whose key names unique columns:',
          ),
          ...keyless.map(({ table }) => `#   ${scalar(table)}`),
        ]),
  ];
  return { name: 'sync.yaml', text: `${lines.join('\n')}\n` };
}
