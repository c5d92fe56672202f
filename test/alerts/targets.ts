/** Targets of alerts on this machine: a web server and a mail server that note what they get. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { onTestFinished } from 'vitest';
import type { Notification } from '../../src/domain/monitoring/alerts.js';

/** A part of an address that nobody but the target may see. */
export const SECRET = 'T0SECRETB0SECRET';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Webhook {
  readonly url: string;
  readonly received: Received[];
  /** Of those that were accepted, as `problem failing`. */
  readonly delivered: () => string[];
  readonly notifications: () => Notification[];
  /** What it answers from now on; 200 at first. null: it closes the connection. */
  answer: { status: number; headers?: Record<string, string>; body?: string } | 'nothing' | null;
}

export async function startWebhook(): Promise<Webhook> {
  const accepted: string[] = [];
  const notifications = (): Notification[] => accepted.map((body) => JSON.parse(body) as Notification);
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const body = Buffer.concat(chunks).toString();
      webhook.received.push({ method, path, headers, body });
      if (webhook.answer === null) return void request.socket.destroy();
      if (webhook.answer === 'nothing') return;
      if (webhook.answer.status < 300) accepted.push(body);
      response.writeHead(webhook.answer.status, webhook.answer.headers).end(webhook.answer.body ?? 'ok');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const webhook: Webhook = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/${SECRET}`,
    received: [],
    notifications,
    delivered: () => notifications().map(({ state, problem }) => `${state} ${problem}`),
    answer: { status: 200 },
  };
  return webhook;
}

export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly text: string;
}

/** A mail server that wants this user and password; it refuses addresses that begin with `nobody`. */
export async function startMailServer(): Promise<{ url: string; mails: Mail[] }> {
  const mails: Mail[] = [];
  const server = new SMTPServer({
    authOptional: false,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _, answer) =>
      username === 'mailer' && password === SECRET
        ? answer(null, { user: username })
        : answer(new Error(`Invalid login for ${username}`)),
    onRcptTo: ({ address }, _, answer) =>
      answer(address.startsWith('nobody') ? new Error(`${address} is unknown here`) : undefined),
    onData(stream, session, answer) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          text: Buffer.concat(chunks).toString(),
        });
        answer();
      });
    },
  });
  // Clients that give up in the middle are none of a test's business.
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.server.address() as AddressInfo;
  return { url: `smtp://mailer:${SECRET}@127.0.0.1:${port}`, mails };
}
