/** What is known of a record, as words. */
import type { ExplainedRecord, PlatformState } from '../../../inspection/explain-record.js';

/** The facts of a record in the order in which they are shown: a name, and a text. A name may occur several times. */
export const factsOf = (record: ExplainedRecord): (readonly [string, string])[] =>
  FACTS.flatMap(([name, textsOf]) => textsOf(record).map((text) => [name, text] as const));

/** For each name no text, one, or several. */
const FACTS: readonly (readonly [string, (record: ExplainedRecord) => readonly string[]])[] = [
  ['row', (record) => [rowText(record)]],
  ['record', ({ row }) => (row?.record == null ? [] : [pairs(row.record)])],
  ['record', ({ row }) => (row?.unmappable == null ? [] : [`${row.unmappable.pointer} ${row.unmappable.reason}`])],
  ['ledger', ({ acceptedHash }) => [ACCEPTED[acceptedHash]]],
  [
    'batch',
    ({ batch }) =>
      batch === null ? [] : [`${batch.id} (${batch.state}), platform id ${batch.platformBatchId ?? 'not known yet'}`],
  ],
  [
    'in doubt',
    ({ inDoubtUntil: until }) =>
      until === null
        ? []
        : [`what was sent got no response; newer content waits until ${until}, as it may still be applied`],
  ],
  ['waiting', ({ waiting }) => (waiting === null ? [] : [waitingText(waiting)])],
  [
    'dead letter',
    ({ deadLetters }) => deadLetters.map((d) => `${d.id}: ${d.code} ${d.pointer} ${d.reason} (${d.lastSeen})`),
  ],
  ['platform', ({ platform }) => [platformText(platform)]],
];

const ACCEPTED: Readonly<Record<ExplainedRecord['acceptedHash'], string>> = {
  equal: 'the platform has accepted the current content of the row',
  removed: 'the platform has accepted the removal, as `deletes` says',
  different: 'the platform last accepted different content',
  none: 'no accepted content is known',
  not_kept: 'keeps no records of this mapping (options.ledger: off)',
};

function rowText({ row, acceptedHash }: ExplainedRecord): string {
  if (row !== null) return `key ${row.key.join(', ')}: ${pairs(row.columns)}`;
  return acceptedHash === 'removed' ? 'gone from the source' : 'not found';
}

function waitingText({ reason, missing, since, dueAt, expiresAt }: NonNullable<ExplainedRecord['waiting']>): string {
  const parents = missing.map((m) => `${m.schemaName} ${m.externalId}`).join(', ');
  return [
    `${reason}${parents === '' ? '' : ` of ${parents}`}`,
    `since ${since}`,
    `next attempt ${dueAt}`,
    ...(expiresAt === null ? [] : [`pending on the platform until ${expiresAt}`]),
  ].join(', ');
}

function platformText(platform: PlatformState): string {
  switch (platform.kind) {
    case 'different':
      return `has it, but with another ${platform.field} than the row`;
    case 'there':
      return `has it: ${pairs(platform.data)}`;
    case 'unknown':
      return `could not be queried (${platform.error})`;
    default:
      return { equal: 'has it, as the row says', absent: 'does not have it' }[platform.kind];
  }
}

/** `name=value` for each; `explainRecord` has masked the values unless --show-values was given. */
const pairs = (values: Readonly<Record<string, unknown>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('  ');
