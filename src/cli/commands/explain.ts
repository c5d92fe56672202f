/** `partner-sync explain`: why a record is, or is not, on the platform. Writes nothing anywhere. */
import type { Command } from 'commander';
import { explainRecord, type ExplainedRecord, type Explanation } from '../../../activities/explain-record.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { nearest } from '../../domain/names.js';
import { EXIT, look } from '../command-context.js';
import { printable } from '../table.js';
import { verdictOf, type RecordVerdict } from './explain/verdict.js';

interface ExplainFlags {
  json?: boolean;
  showValues?: boolean;
}

export function addExplain(program: Command): void {
  program
    .command('explain')
    .summary('why a record is, or is not, on the platform')
    .description(
      'Shows what source, ledger and platform say of one record now, and what comes next. Values are masked. Sends and writes nothing.',
    )
    .argument('<sync>', 'folder in the mappings folder')
    .argument('<mapping>', 'mapping that makes the record')
    .argument('<external-id>', 'external id of the record')
    .option('--show-values', 'show the values of row and record')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExample:\n  partner-sync explain online-retail customers 17850\n\nExit codes: 0 the record is on the platform as its row says, or marked since its row is gone; 1 it is not, or failed; 2 wrong usage or configuration',
    )
    .action(
      look<[string, string, string], ExplainFlags>(async ({ parts, output }, name, mappingName, externalId, flags) => {
        const sync = await parts.openSync(name);
        const known = sync.spec.mappings.map((m) => m.name);
        if (!known.includes(mappingName)) {
          const near = nearest(mappingName, known);
          throw new PartnerSyncError(
            'input_invalid',
            `sync ${name} has no mapping "${mappingName}"${near === undefined ? '' : `; did you mean "${near}"?`} It has: ${known.join(', ')}`,
          );
        }
        const views = { ledger: await parts.ledger(), platform: await parts.platform() };
        const mapping = await sync.mapping(mappingName);
        const showValues = flags.showValues === true;
        const explanation = await explainRecord(views, sync, mapping, externalId, { showValues });
        const verdicts = explanation.records.map((record) => verdictOf(name, sync.spec, explanation, record));
        output.result(
          {
            sync: name,
            ...explanation,
            records: explanation.records.map((record, i) => ({ ...verdicts[i]!, ...record })),
          },
          () => explanation.records.flatMap((record, i) => linesOf(explanation, record, verdicts[i]!)),
        );
        return verdicts.every((v) => v.delivered) ? EXIT.done : EXIT.failed;
      }),
    );
}

function linesOf({ mapping, externalId }: Explanation, record: ExplainedRecord, verdict: RecordVerdict): string[] {
  const { row, receipt, waiting, batch, deadLetters, platform } = record;
  const facts: (readonly [string, string])[] = [
    ['row', row === null ? 'not found' : `key ${row.key.join(', ')}: ${pairs(row.columns)}`],
  ];
  if (row?.record != null) facts.push(['record', pairs(row.record)]);
  if (row?.unmappable != null) facts.push(['record', `${row.unmappable.pointer} ${row.unmappable.reason}`]);
  facts.push([
    'ledger',
    {
      equal: 'the platform has accepted what the row says now',
      removed: 'the platform has accepted that its row is gone, as `deletes` says',
      different: 'the platform has accepted other content than the row has now',
      none: 'nothing is known to have been accepted',
      not_kept: 'keeps no records of this mapping (options.ledger: off)',
    }[receipt],
  ]);
  if (batch !== null)
    facts.push([
      'batch',
      `${batch.id} (${batch.state}), the platform's id ${batch.platformBatchId ?? 'not known yet'}`,
    ]);
  if (waiting !== null) {
    const parents = waiting.missing.map((m) => `${m.schemaName} ${m.externalId}`).join(', ');
    facts.push([
      'waiting',
      `${waiting.reason}${parents === '' ? '' : ` of ${parents}`}, since ${waiting.since}, next look ${waiting.dueAt}` +
        (waiting.expiresAt === null ? '' : `, the platform waits until ${waiting.expiresAt}`),
    ]);
  }
  for (const letter of deadLetters)
    facts.push(['letter', `${letter.id}: ${letter.code} ${letter.pointer} ${letter.reason} (${letter.lastSeen})`]);
  facts.push([
    'platform',
    platform.kind === 'different'
      ? `has it, but ${platform.field} differs from the row`
      : platform.kind === 'unknown'
        ? `could not be asked (${platform.error})`
        : { equal: 'has it, as the row says', absent: 'does not have it', there: 'has it' }[platform.kind],
  ]);
  return [
    `${mapping} ${printable(externalId)}${record.tenant === null ? '' : ` of tenant ${record.tenant}`}: ${printable(verdict.why)}`,
    '',
    ...facts.map(([name, text]) => `  ${name.padEnd(8)} ${printable(text)}`),
    '',
    ...verdict.next.map((line) => `  ${printable(line)}`),
    '',
  ];
}

const pairs = (values: Readonly<Record<string, unknown>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('  ');
