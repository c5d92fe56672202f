/** Each target gets a notification in its own form; what goes wrong is said without its address. */
import { once } from 'node:events';
import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openAlerting } from '../../src/alerts/open-alerting.js';
import { slackMessage } from '../../src/alerts/slack-message.js';
import type { AlertTarget, Delivery, Notification } from '../../src/domain/monitoring/alerts.js';
import { HEALTH_TRIGGERS } from '../../src/domain/monitoring/sync-health.js';
import { SECRET, startMailServer, startWebhook } from './targets.js';

const NOTIFICATION: Notification = {
  version: 1,
  id: 'shop/late/2026-03-01T12:00:00.000Z/1',
  key: 'shop/late',
  state: 'problem',
  sync: 'shop',
  problem: 'late',
  what: 'the last success was 7h 0m ago (limit 6h 0m)',
  since: '2026-03-01T12:00:00.000Z',
  endedAt: null,
  open: ['late', 'waiting'],
};

function send(
  address: AlertTarget['address'],
  notification = NOTIFICATION,
  env: Record<string, string> = {},
): Promise<Delivery> {
  const target: AlertTarget = { id: '0', label: 'alerts[0]', on: HEALTH_TRIGGERS, address };
  return openAlerting(env, () => Promise.reject(new Error('no folder'))).send(target, notification);
}

describe('a webhook', () => {
  it('gets the notification as it is, with the password of its address as a header', async () => {
    const webhook = await startWebhook();
    const url = `${webhook.url.replace('http://', 'http://me:hunter%202@')}?x=1`;
    expect(await send({ kind: 'webhook', url })).toEqual({ delivered: true });
    expect(webhook.notifications()).toEqual([NOTIFICATION]);
    expect(webhook.received[0]).toMatchObject({
      path: `/hooks/${SECRET}?x=1`,
      headers: {
        authorization: `Basic ${Buffer.from('me:hunter 2').toString('base64')}`,
        'user-agent': 'partner-sync',
      },
    });
  });

  it.each<[number, Record<string, string>, string, string, number | null]>([
    [
      400,
      {},
      'invalid_blocks',
      'it responded with 400: it does not take this form; is it a Slack address under `webhook`, or the other way round? (invalid_blocks)',
      null,
    ],
    [
      404,
      {},
      `Cannot POST /hooks/${SECRET}`,
      'it responded with 404: there is no such address; was it revoked, or mistyped?',
      null,
    ],
    [410, {}, '', 'it responded with 410: this address was revoked', null],
    [
      302,
      { location: 'http://127.0.0.1:1/' },
      '',
      'it responded with 302, a redirect, which is not followed: write the new address',
      null,
    ],
    [
      429,
      { 'retry-after': '30' },
      '',
      'it responded with 429: too many requests; it is tried again when it allows it',
      30_000,
    ],
    [503, { 'retry-after': '86400' }, '', 'it responded with 503', 3_600_000],
    [500, {}, '<html>no</html>', 'it responded with 500', null],
  ])('that responds with %i is reported without its address', async (status, headers, body, why, retryAfter) => {
    const webhook = await startWebhook();
    webhook.answer = { status, headers, body };
    expect(await send({ kind: 'webhook', url: webhook.url })).toEqual({ delivered: false, why, retryAfter });
    expect(webhook.received).toHaveLength(1);
  });

  it.each<[string, number, (response: ServerResponse) => void, object]>([
    ['is long', 200, (response) => response.end('x'.repeat(100_000)), { delivered: true }],
    ['is cut off', 200, (response) => response.write('x', () => response.destroy()), { delivered: true }],
    ['never ends', 200, (response) => response.write('x'), { delivered: true }],
    [
      'is long',
      429,
      (response) => response.end('x'.repeat(100_000)),
      { delivered: false, why: expect.stringContaining('429: too many requests') as string, retryAfter: 30_000 },
    ],
  ])('is judged by its status, even if the body %s (%i)', async (_, status, answer, delivery) => {
    const server = createHttpServer((__, response) => {
      response.writeHead(status, { 'retry-after': '30' });
      answer(response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    expect(await send({ kind: 'webhook', url: `http://127.0.0.1:${port}/${SECRET}` })).toEqual(delivery);
  });

  it('that cannot be reached is reported without its address', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    expect(await send({ kind: 'webhook', url: `http://127.0.0.1:${port}/${SECRET}` })).toEqual({
      delivered: false,
      why: 'no connection, or it was closed (ECONNREFUSED)',
      retryAfter: null,
    });
  });

  it('that accepts a connection and says nothing is given up', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    expect(await send({ kind: 'webhook', url: `http://127.0.0.1:${port}/${SECRET}` })).toMatchObject({
      why: 'no response within 10 s',
    });
  });
});

describe('Slack', () => {
  it('gets a headline, what is wrong, and what to do', async () => {
    const slack = await startWebhook();
    expect(await send({ kind: 'slack', url: slack.url })).toEqual({ delivered: true });
    expect(JSON.parse(slack.received[0]!.body)).toEqual({
      text: ':red_circle: shop: late\nThe last success was 7h 0m ago (limit 6h 0m).',
      blocks: [
        { type: 'header', text: { type: 'plain_text', text: ':red_circle: shop: late', emoji: true } },
        { type: 'section', text: { type: 'mrkdwn', text: 'The last success was 7h 0m ago (limit 6h 0m).' } },
        {
          type: 'section',
          text: {
            type: 'mrkdwn',
            text: 'Since 2026-03-01 12:00 UTC.\nAll open problems: late, waiting.\nFor details: partner-sync status shop',
          },
        },
      ],
    });
  });

  it('reads no word as a control character, and gets no more than it takes', () => {
    const { text, blocks } = slackMessage({ ...NOTIFICATION, what: `<!channel> & ${'&'.repeat(5000)}` });
    expect(text).toMatch(/&lt;!channel&gt; &amp; (&amp;)+\.\.\.$/);
    for (const each of [text, ...(blocks as { text: { text: string } }[]).map((block) => block.text.text)])
      expect(each.length).toBeLessThanOrEqual(3000);
    expect(JSON.stringify(blocks)).not.toMatch(/<!channel/);
  });
});

describe('a mail', () => {
  const from = 'partner-sync <alerts@example.com>';

  it('says the same, once to all, and has the same id when it is sent again', async () => {
    const { url, mails } = await startMailServer();
    const env = { PARTNER_SYNC_SMTP_URL: url, PARTNER_SYNC_SMTP_FROM: from };
    const recovered: Notification = {
      ...NOTIFICATION,
      state: 'recovered',
      endedAt: '2026-03-01T13:30:00.000Z',
      open: ['waiting'],
    };
    for (const notification of [NOTIFICATION, NOTIFICATION, recovered])
      expect(await send({ kind: 'email', to: ['a@example.com', 'b@example.com'] }, notification, env)).toEqual({
        delivered: true,
      });
    expect(mails[0]).toMatchObject({ from: 'alerts@example.com', to: ['a@example.com', 'b@example.com'] });
    expect(mails[0]!.text).toMatch(/^Subject: \[partner-sync\] shop: late\r$/m);
    expect(mails[0]!.text).toContain('The last success was 7h 0m ago (limit 6h 0m).\r\n');
    expect(mails[2]!.text).toMatch(/^Subject: \[partner-sync\] shop: no longer late\r$/m);
    expect(mails[2]!.text).toContain(
      'Since 2026-03-01 12:00 UTC, over at 2026-03-01 13:30 UTC.\r\nStill wrong: waiting.\r\nFor details: partner-sync status shop\r\n',
    );
    const ids = mails.map(({ text }) => /^Message-ID: (.*)\r$/im.exec(text)![1]);
    expect(ids[1]).toBe(ids[0]);
    const threads = mails.map(({ text }) => /^References: (.*)\r$/im.exec(text)![1]);
    expect(new Set(threads).size).toBe(1);
  });

  it.each<[string, (url: string) => Record<string, string>, string[], string]>([
    [
      'a wrong password',
      (url) => ({ PARTNER_SYNC_SMTP_URL: url.replace(SECRET, 'hunter2') }),
      ['a@example.com'],
      'the mail server does not accept the user and password of PARTNER_SYNC_SMTP_URL (EAUTH, status 535)',
    ],
    [
      'no server',
      () => ({ PARTNER_SYNC_SMTP_URL: `smtp://mailer:${SECRET}@127.0.0.1:1` }),
      ['a@example.com'],
      'the mail server cannot be reached (ESOCKET)',
    ],
    [
      'no known address',
      (url) => ({ PARTNER_SYNC_SMTP_URL: url }),
      ['nobody@example.com'],
      'the mail server refuses the sender or all addresses (EENVELOPE, status 550)',
    ],
    ['no variables', () => ({}), ['a@example.com'], 'PARTNER_SYNC_SMTP_URL or PARTNER_SYNC_SMTP_URL_FILE is not set'],
  ])('to %s says why, without passwords and addresses', async (_, envOf, to, why) => {
    const { url, mails } = await startMailServer();
    const delivery = await send({ kind: 'email', to }, NOTIFICATION, { PARTNER_SYNC_SMTP_FROM: from, ...envOf(url) });
    expect(delivery).toMatchObject({ delivered: false, why: expect.stringContaining(why) as string });
    expect(JSON.stringify(delivery)).not.toMatch(/hunter2|SECRET|mailer|nobody/);
    expect(mails).toEqual([]);
  });
});
