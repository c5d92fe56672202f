/** `alerts`, the watch schedule that `schedules apply` keeps, and what `doctor` says of it. */
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { watchScheduleId } from '../../src/cli/schedules/watch-schedule.js';
import { eventually, failureOf, fill, openShop, SYNC, type Shop } from '../pipeline/shop.js';
import { createNamespace } from '../temporal-namespace.js';
import { filesOf } from '../pipeline/shop-files.js';
import { SECRET, startMailServer, startWebhook, type Mail, type Webhook } from '../alerts/targets.js';
import type { CommandEnd } from './command-line.js';
import { runInProcess } from './in-process.js';

const SYNC_YAML = filesOf({})['sync.yaml']!;

let shop: Shop;
let webhook: Webhook;
let slack: Webhook;
let ping: Webhook;
let mails: Mail[];

beforeEach(async () => {
  [webhook, slack, ping] = await Promise.all([startWebhook(), startWebhook(), startWebhook()]);
  const mailServer = await startMailServer();
  ({ mails } = mailServer);
  const alerts = `alerts:
  - { webhook: '\${env:ALERT_URL}' }
  - { slack: '${slack.url}' }
  - { email: [ops@example.com] }
  - { ping: '${ping.url}' }
`;
  shop = await openShop({
    files: { 'sync.yaml': SYNC_YAML + alerts },
    env: {
      TEMPORAL_NAMESPACE: await createNamespace(),
      ALERT_URL: webhook.url,
      PARTNER_SYNC_SMTP_URL: mailServer.url,
      PARTNER_SYNC_SMTP_FROM: 'alerts@example.com',
    },
  });
  onTestFinished(() => shop.close());
});

/** No command says an address of a target, or a password. */
async function command(...args: string[]): Promise<CommandEnd> {
  const end = await runInProcess(args, shop.env);
  for (const hidden of [SECRET, 'mailer', 'ops@example.com', webhook.url])
    expect(end.stdout + end.stderr).not.toContain(hidden);
  return end;
}

it('alerts test notifies each target, and says to which of them it could not deliver', async () => {
  expect(await command('alerts', 'test', SYNC)).toMatchObject({
    code: 0,
    stdout: ['webhook', 'slack', 'email', 'ping'].map((kind, i) => `alerts[${i}] (${kind}): delivered\n`).join(''),
  });
  expect(webhook.notifications()).toMatchObject([{ state: 'test', sync: SYNC, problem: 'test', open: [] }]);
  expect(JSON.parse(slack.received[0]!.body)).toMatchObject({
    text: expect.stringContaining('shop: a test') as string,
  });
  expect(mails[0]).toMatchObject({ to: ['ops@example.com'] });
  expect(ping.received).toMatchObject([{ method: 'GET', body: '' }]);

  slack.answer = { status: 404, body: 'no_service' };
  const { code, json } = await command('alerts', 'test', SYNC, '--json');
  expect(code).toBe(1);
  expect(json()).toMatchObject({
    sync: SYNC,
    targets: [
      { target: 'alerts[0] (webhook)', delivered: true },
      { target: 'alerts[1] (slack)', delivered: false, why: expect.stringContaining('(no_service)') as string },
      { delivered: true },
      { delivered: true },
    ],
  });
});

it('alerts test says what is missing for a sync without usable alerts', async () => {
  shop.write('sync.yaml', SYNC_YAML);
  expect(await command('alerts', 'test', SYNC)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('input_invalid: shop has no alerts: its sync.yaml has no key "alerts"') as string,
  });
  shop.write('sync.yaml', `${SYNC_YAML}alerts: [{ webhook: '\${env:NOT_SET}' }]\n`);
  expect(await command('alerts', 'test', SYNC)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('config_invalid: the alerts of shop cannot be read') as string,
  });
  expect(await command('alerts', 'test', 'shp')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('did you mean "shop"?') as string,
  });
});

it('the watch schedule is created with the first sync that has alerts, evaluates them, and is removed with the last alerts and schedules', async () => {
  expect((await command('doctor', SYNC)).stdout).toMatch(
    /warn {2}alerts .* there is no watch schedule: a sync that stops running is not noticed\n.*schedules apply shop/,
  );
  const id = watchScheduleId(shop.taskQueue);
  expect((await command('schedules', 'apply', SYNC, '--json')).json()).toMatchObject({
    schedules: [{ id, action: 'created', paused: false }],
  });
  expect((await command('schedules', 'list', SYNC, '--json')).json()).toMatchObject({ schedules: [], watch: { id } });
  expect((await command('schedules', 'list', SYNC)).stdout).toMatch(
    new RegExp(`no schedules for shop\\n.*\\n *${id} +no`),
  );
  expect((await command('schedules', 'apply', SYNC, '--json')).json()).toMatchObject({
    schedules: [{ id, action: 'updated' }],
  });
  await shop.work();
  expect((await command('doctor', SYNC)).stdout).toMatch(
    /ok {4}alerts .* 3 targets; evaluated each minute by the watch schedule/,
  );

  const handle = shop.client.schedule.getHandle(id);
  await handle.trigger();
  await eventually('it has evaluated them', () => Promise.resolve(ping.received.length > 0));
  await handle.pause('maintenance');
  expect((await command('doctor', SYNC)).stdout).toMatch(/warn {2}alerts .* the watch schedule is paused: maintenance/);

  shop.write('sync.yaml', `${SYNC_YAML}alerts: [{ webhook: '\${env:NOT_SET}' }]\n`);
  expect((await command('doctor', SYNC)).stdout).toMatch(/FAIL {2}alerts .* those of shop cannot be read/);
  shop.write('sync.yaml', `${SYNC_YAML}schedules: [{ name: nightly, every: 1d }]\n`);
  const nightly = 'partner-sync/shop/nightly';
  expect((await command('schedules', 'apply', SYNC, '--json')).json()).toMatchObject({
    schedules: [
      { id: nightly, action: 'created' },
      { id, action: 'updated', paused: true },
    ],
  });
  expect((await command('doctor', SYNC)).stdout).toMatch(
    /warn {2}schedules .* the watch schedule is paused: maintenance/,
  );
  await handle.unpause();
  expect((await command('doctor', SYNC)).stdout).toMatch(/ok {4}schedules .* looked at each minute/);
  shop.write('sync.yaml', SYNC_YAML);
  expect((await command('schedules', 'apply', SYNC, '--json')).json()).toMatchObject({
    schedules: [
      { id: nightly, action: 'removed' },
      { id, action: 'removed' },
    ],
  });
  expect((await command('schedules', 'apply', SYNC, '--json')).json()).toMatchObject({ schedules: [] });
  expect((await command('doctor', SYNC)).stdout).not.toMatch(/alerts/);
});

it('alerts list shows what is wrong and which notifications are due, and status the same problem', async () => {
  expect(await command('alerts', 'list')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('no alerts') as string,
  });
  slack.answer = { status: 500 };
  await shop.work();
  await fill(shop, 2);
  shop.write('customers.mapping.yaml', 'broken');
  await failureOf(await shop.start('sync', { sync: SYNC }));
  await eventually('the others are notified', () => Promise.resolve(webhook.received.length > 0 && mails.length > 0));
  await eventually('that is recorded', async () => {
    const { json } = await command('alerts', 'list', SYNC, '--json');
    const { alerts } = json<{ alerts: { undeliveredTo: string[] }[] }>();
    return alerts.length === 1 && alerts[0]!.undeliveredTo.join() === 'alerts[1] (slack)';
  });
  const { stdout } = await command('alerts', 'list');
  expect(stdout).toMatch(/^shop +failing +\S+ \S+ +- +\S+ \S+ +alerts\[1\] \(slack\) +the latest run failed/m);
  slack.answer = { status: 200 };
  await eventually('nothing is due any more', async () => !(await command('alerts', 'list')).stdout.includes('slack'));
  expect(mails).toHaveLength(1);
  expect(mails[0]!.text).toMatch(/^Subject: \[partner-sync\] shop: failing\r$/m);
});
