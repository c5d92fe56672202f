/** A notification by e-mail, through the mail server of PARTNER_SYNC_SMTP_URL. Nothing here quotes an address or a password. */
import { hash } from 'node:crypto';
import { createTransport } from 'nodemailer';
import type { Delivery, Notification } from '../domain/monitoring/alerts.js';
import { errorCode } from '../domain/values/foreign-text.js';
import { milliseconds } from '../domain/timeouts.js';
import { details, headline } from './notification.js';

/** The mail server, and who writes. */
export interface MailServer {
  /** `smtp://user:password@host:587` or `smtps://...`; a secret. */
  readonly url: string;
  readonly from: string;
}

/** One mail to all addresses. It has arrived if the server takes it for any of them. */
export async function sendMail(
  { url, from }: MailServer,
  to: readonly string[],
  notification: Notification,
): Promise<Delivery> {
  const transport = createTransport({
    url,
    requireTLS: needsTls(url),
    connectionTimeout: milliseconds('alertMail'),
    greetingTimeout: milliseconds('alertMail'),
    socketTimeout: milliseconds('alertMail'),
    dnsTimeout: milliseconds('alertMail'),
  });
  try {
    await transport.sendMail({
      from,
      to: [...to],
      subject: `[partner-sync] ${headline(notification)}`,
      text: `${details(notification).join('\n')}\n\n${notification.id}\n`,
      // Mail programs show a mail that arrives twice once, and those of one problem together.
      messageId: messageId(notification.id, from),
      references: messageId(notification.key, from),
      headers: { 'auto-submitted': 'auto-generated' },
    });
    return { delivered: true };
  } catch (error) {
    return { delivered: false, why: whyOf(error), retryAfter: null };
  } finally {
    transport.close();
  }
}

/** A password goes over the network in the clear only to this machine itself. */
function needsTls(url: string): boolean {
  const { protocol, password, hostname } = new URL(url);
  return protocol === 'smtp:' && password !== '' && !/^(127\.|localhost$|\[::1\]$)/.test(hostname);
}

const messageId = (id: string, from: string): string =>
  `<${hash('sha256', id, 'hex').slice(0, 32)}@${/@([\w.-]+)/.exec(from)?.[1] ?? 'partner-sync'}>`;

const MEANINGS: Readonly<Record<string, string>> = {
  EAUTH: 'the mail server does not accept the user and password of PARTNER_SYNC_SMTP_URL',
  EENVELOPE: 'the mail server refuses the sender or all addresses',
  EDNS: 'the name of the mail server in PARTNER_SYNC_SMTP_URL cannot be resolved',
  ETLS: 'no encrypted connection to the mail server is possible',
  ETIMEDOUT: 'the mail server does not respond in time',
  ESOCKET: 'the mail server cannot be reached',
  ECONNECTION: 'the mail server cannot be reached',
};

/** The server's own words are left out: they name addresses. */
function whyOf(error: unknown): string {
  const code = errorCode(error);
  const { responseCode } = error as { responseCode?: unknown };
  const meaning = MEANINGS[code] ?? 'the mail could not be sent';
  return `${meaning} (${[code, typeof responseCode === 'number' ? `status ${responseCode}` : ''].filter(Boolean).join(', ') || 'unknown error'})`;
}
