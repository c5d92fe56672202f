/**
 * `partner-sync explain`: why one record is, or is not, on the platform.
 *
 * Reads the row from the source, the record's state from the ledger, and the record itself from the platform. Source
 * and ledger must be reachable; if the platform is not, the explanation says so. Temporal is asked only whether a paused run
 * still exists. Writes nothing. An external id may
 * name a record in several tenants; each is explained. Exit codes: 0 if each of them is delivered, or marked as removed
 * since its row is gone; 1 if one is not, or explaining failed; 2 for wrong usage or configuration.
 */
import type { Command } from 'commander';
import { explainRecord, type ExplainedRecord, type Explanation } from '../../inspection/explain-record.js';
import { mappingsInOrder } from '../../mapping/order/mappings-in-order.js';
import { EXIT, withViewParts } from '../command-context.js';
import { printable } from '../output/text-table.js';
import { concludeOn, type Conclusion } from './explain/conclusion.js';
import { factsOf } from './explain/facts.js';
import { obstaclesOf } from './explain/obstacles.js';

interface ExplainFlags {
  json?: boolean;
  showValues?: boolean;
}

export function addExplain(program: Command): void {
  program
    .command('explain')
    .description(
      'Shows what source, ledger and platform say about one record now, and what happens next. Values are masked. Sends and writes nothing.',
    )
    .argument('<sync>', 'folder in the mappings folder')
    .argument('<mapping>', 'mapping that the record comes from')
    .argument('<external-id>', 'external id of the record')
    .option('--show-values', 'show the values of row and record')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExample:\n  partner-sync explain online-retail customers 17850\n\nExit codes: 0 the record is on the platform as its row says, or marked since its row is gone; 1 it is not, or explain failed; 2 wrong usage or configuration',
    )
    .action(
      withViewParts<[string, string, string], ExplainFlags>(
        async ({ parts, output }, name, mappingName, externalId, flags) => {
          const sync = await parts.openSync(name);
          const [known] = mappingsInOrder(sync.spec, [mappingName]);
          const views = { ledger: await parts.ledger(), platform: await parts.platform() };
          const mapping = await sync.mapping(known!);
          const showValues = flags.showValues === true;
          const explanation = await explainRecord(views, sync, mapping, externalId, { showValues });
          const obstacles = await obstaclesOf(parts, name);
          const conclusions = explanation.records.map((record) =>
            concludeOn(name, sync.spec, obstacles, explanation, record),
          );
          output.result(
            {
              sync: name,
              ...explanation,
              records: explanation.records.map((record, i) => ({ ...conclusions[i]!, ...record })),
            },
            () => explanation.records.flatMap((record, i) => linesOf(explanation, record, conclusions[i]!)),
          );
          return conclusions.every(({ delivered }) => delivered) ? EXIT.done : EXIT.failed;
        },
      ),
    );
}

/** The explanation for people: the conclusion, what it is drawn from, and what to do. */
const linesOf = ({ mapping, externalId }: Explanation, record: ExplainedRecord, conclusion: Conclusion): string[] => [
  `${mapping} ${printable(externalId)}${record.tenant === null ? '' : ` of tenant ${record.tenant}`}: ${printable(conclusion.why)}`,
  '',
  ...factsOf(record).map(([name, text]) => `  ${name.padEnd(11)} ${printable(text)}`),
  '',
  ...conclusion.next.map((line) => `  ${printable(line)}`),
  '',
];
