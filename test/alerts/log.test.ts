/** The log of a worker says that a target cannot be notified, and why, and has neither its address nor a password. */
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { eventually, failureOf, openShop, SYNC } from '../pipeline/shop.js';
import { filesOf } from '../pipeline/shop-files.js';
import { build, startWorkerProcess } from '../pipeline/worker-process.js';
import { SECRET, startWebhook } from './targets.js';

beforeAll(build);

it('the log of a worker names a target that cannot be notified by its index', async () => {
  const webhook = await startWebhook();
  webhook.answer = { status: 404, body: `Cannot POST /hooks/${SECRET}` };
  const alerts = `alerts: [{ webhook: '\${env:ALERT_URL}' }, { ping: '\${env:ALERT_URL}' }, { email: [ada@example.com] }]\n`;
  const shop = await openShop({
    files: { 'sync.yaml': filesOf({})['sync.yaml']! + alerts, 'customers.mapping.yaml': 'broken' },
    pushed: false,
    env: {
      ALERT_URL: webhook.url,
      PARTNER_SYNC_SMTP_URL: `smtp://mailer:${SECRET}@127.0.0.1:1`,
      PARTNER_SYNC_SMTP_FROM: 'alerts@example.com',
    },
  });
  onTestFinished(() => shop.close());
  const worker = await startWorkerProcess(shop);
  onTestFinished(async () => {
    worker.child.kill('SIGTERM');
    await worker.ended;
  });
  await failureOf(await shop.start('sync', { sync: SYNC }));
  await shop.client.workflow.execute('watch', { taskQueue: shop.taskQueue, workflowId: `watch-${shop.taskQueue}` });
  for (const said of ['could not notify alerts[0] (webhook)', 'could not notify alerts[2] (email)', 'alerts[1] (ping)'])
    await eventually(said, () => Promise.resolve(worker.output().includes(said)));
  for (const hidden of [SECRET, webhook.url, 'mailer', 'ada@example.com'])
    expect(worker.output()).not.toContain(hidden);
});
