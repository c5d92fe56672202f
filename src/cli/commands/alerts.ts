/**
 * `partner-sync alerts`: which problems people are notified of, and whether notifications can be delivered.
 *
 * `list` reads the ledger. `test` reads the sync's sync.yaml and sends a notification to each of its targets from this machine,
 * with this machine's variables. Neither needs Temporal, a worker or the source, and neither writes to the ledger. Exit
 * codes: 0 done, 1 a notification could not be delivered, or no ledger, 2 wrong usage or configuration.
 */
import type { Command } from 'commander';
import { openAlerting } from '../../alerts/open-alerting.js';
import { subscriptionsOf } from '../../alerts/evaluate-alerts.js';
import { testNotification } from '../../alerts/notification.js';
import type { ViewParts } from '../../composition/parts.js';
import { hasAlerts, type AlertSettings, type Delivery } from '../../domain/monitoring/alerts.js';
import { PartnerSyncError } from '../../domain/errors.js';
import type { UnfinishedAlert } from '../../ledger/alerts.js';
import { loadAlerts } from '../../mapping/load-alerts.js';
import { EXIT, withViewParts } from '../command-context.js';
import { assertKnown } from '../known-sync.js';
import { printable, table } from '../output/text-table.js';

export function addAlerts(program: Command): void {
  const alerts = program.command('alerts');
  alerts
    .command('list')
    .description(
      'Lists what was wrong when the alerts of syncs were last evaluated, and the targets whose notifications are due.',
    )
    .argument('[sync]', 'folder in the mappings folder')
    .option('--json', 'print one JSON document')
    .action(
      withViewParts<[string | undefined], { json?: boolean }>(async ({ parts, output }, sync) => {
        const found = await (await parts.ledger()).alerts.unfinished(sync);
        if (sync !== undefined && found.length === 0) await assertKnown(parts, sync);
        const alerting = openAlerting(parts.env, () => parts.mappingsFolder());
        const shown = await Promise.all(found.map(async (alert) => shownAlert(alert, await alerting.of(alert.sync))));
        output.result({ ...(sync !== undefined && { sync }), alerts: shown }, () => listLines(shown));
        return EXIT.done;
      }),
    );
  alerts
    .command('test')
    .description(
      'Sends a test notification to each target in `alerts` of the sync, calls its ping addresses, and says what happened. Uses the variables of this machine, which may differ from those of the workers.',
    )
    .argument('<sync>', 'folder in the mappings folder')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExample:\n  partner-sync alerts test online-retail\n\nExit codes: 0 all were delivered; 1 one was not; 2 wrong usage or configuration',
    )
    .action(
      withViewParts<[string], { json?: boolean }>(async ({ parts, output }, sync) => {
        const tried = await tryAll(parts, await settingsOf(parts, sync));
        output.result({ sync, targets: tried }, () =>
          tried.map(({ target, delivered, why }) => `${target}: ${delivered ? 'delivered' : printable(why ?? '')}`),
        );
        return tried.every(({ delivered }) => delivered) ? EXIT.done : EXIT.failed;
      }),
    );
}

/** Throws `input_invalid` for a sync without alerts, and `config_invalid` for one whose alerts cannot be read. */
async function settingsOf(parts: ViewParts, sync: string): Promise<AlertSettings> {
  await assertKnown(parts, sync);
  const settings = await loadAlerts(await parts.mappingsFolder(), sync, parts.env);
  if (settings === 'unreadable')
    throw new PartnerSyncError('config_invalid', `the alerts of ${sync} cannot be read from its sync.yaml`);
  if (!hasAlerts(settings))
    throw new PartnerSyncError(
      'input_invalid',
      `${sync} has no alerts: its sync.yaml has no key "alerts", such as alerts: [{ webhook: '\${env:ALERT_URL}' }]`,
    );
  return settings;
}

interface Tried {
  readonly target: string;
  readonly delivered: boolean;
  readonly why?: string;
}

function tryAll(parts: ViewParts, { sync, targets, pings }: AlertSettings): Promise<Tried[]> {
  const alerting = openAlerting(parts.env, () => parts.mappingsFolder());
  const notification = testNotification(sync, new Date());
  const tried = async (label: string, delivery: Promise<Delivery>): Promise<Tried> => {
    const ended = await delivery;
    return { target: label, delivered: ended.delivered, ...(!ended.delivered && { why: ended.why }) };
  };
  return Promise.all([
    ...targets.map((target) => tried(target.label, alerting.send(target, notification))),
    ...pings.map((ping) => tried(ping.label, alerting.ping(ping))),
  ]);
}

/** An alert as it is shown. Times are ISO 8601 in UTC. */
interface ShownAlert {
  readonly sync: string;
  readonly problem: string;
  readonly what: string;
  readonly since: string;
  readonly endedAt: string | null;
  readonly evaluatedAt: string;
  /** Targets whose notification is due, by their index in sync.yaml. */
  readonly undeliveredTo: readonly string[];
}

/** Targets that sync.yaml does not have any more are left out; without the file, none can be named. */
function shownAlert(alert: UnfinishedAlert, settings: AlertSettings | null): ShownAlert {
  const { sync, problem, what, since, endedAt, evaluatedAt, undeliveredTo } = alert;
  const targets = settings?.targets ?? [];
  const subscribed = subscriptionsOf(targets).filter((each) => each.problem === problem);
  const named = targets.filter(
    ({ id }) => undeliveredTo.includes(id) && subscribed.some(({ target }) => target === id),
  );
  return {
    sync,
    problem,
    what,
    since: since.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
    evaluatedAt: evaluatedAt.toISOString(),
    undeliveredTo: named.map(({ label }) => label),
  };
}

const listLines = (alerts: readonly ShownAlert[]): string[] =>
  alerts.length === 0
    ? ['no alerts: nothing was wrong at the last evaluation']
    : table(
        ['sync', 'problem', 'since (UTC)', 'over (UTC)', 'evaluated (UTC)', 'due for', 'what'],
        alerts.map((a) => [
          a.sync,
          a.problem,
          minute(a.since),
          a.endedAt === null ? '-' : minute(a.endedAt),
          minute(a.evaluatedAt),
          a.undeliveredTo.join(', ') || '-',
          a.what,
        ]),
      );

const minute = (time: string): string => time.slice(0, 16).replace('T', ' ');
