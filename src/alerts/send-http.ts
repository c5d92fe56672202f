/** Requests to the addresses of `alerts`. Whoever knows such an address can write there, so nothing here quotes one. */
import { Client } from 'undici';
import type { Delivery } from '../domain/monitoring/alerts.js';
import { errorCode } from '../domain/values/foreign-text.js';
import { milliseconds, seconds } from '../domain/timeouts.js';
import { exchange, ExchangeEnded, type HttpResponse, type ResponseHead } from '../platform/exchange.js';
import { isRedirect, retryAfterMs } from '../platform/retry.js';

/** The most bytes that are read of a response; nothing but a word of it is ever used. */
const LONGEST_RESPONSE = 64 * 1024;

/** POSTs the body as JSON, or GETs without one. Follows no redirect: it would hand on what the address protects. */
export async function sendHttp(url: string, body: object | null): Promise<Delivery> {
  const { origin, pathname, search, username, password } = new URL(url);
  const client = new Client(origin, { connect: { timeout: milliseconds('alertRequest') } });
  const headers: Record<string, string> = { 'user-agent': 'partner-sync' };
  if (body !== null) headers['content-type'] = 'application/json';
  let head: ResponseHead | undefined;
  try {
    if (username !== '' || password !== '') headers['authorization'] = basic(username, password);
    const response = await exchange(
      client,
      {
        method: body === null ? 'GET' : 'POST',
        path: pathname + search,
        headers,
        body: body === null ? null : JSON.stringify(body),
      },
      {
        deadline: milliseconds('alertRequest'),
        maxBytes: LONGEST_RESPONSE,
        signal: undefined,
        // The last one: informational responses may come before it.
        onHead: (given) => (head = given),
      },
    );
    return deliveryOf(response, url);
  } catch (error) {
    // The head says whether it was delivered: a body that is too long, too slow or cut off changes nothing about it.
    return head === undefined || head.status < 200 ? failed(whyOf(error)) : deliveryOf({ ...head, text: '' }, url);
  } finally {
    await client.destroy();
  }
}

const basic = (username: string, password: string): string =>
  `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`;

function deliveryOf({ status, header, text }: HttpResponse, url: string): Delivery {
  if (status < 300) return { delivered: true };
  const asked = retryAfterMs(header('retry-after'), Date.now(), header('date'));
  const retryAfter = asked === null ? null : Math.min(asked, milliseconds('alertRetryAfterLongest'));
  const word = wordOf(text, url);
  const meaning = isRedirect(status) ? ', a redirect, which is not followed: write the new address' : MEANINGS[status];
  return failed(`it responded with ${status}${meaning ?? ''}${word === null ? '' : ` (${word})`}`, retryAfter);
}

const MEANINGS: Readonly<Record<number, string>> = {
  400: ': it does not take this form; is it a Slack address under `webhook`, or the other way round?',
  401: ': it wants another password or token',
  403: ': it does not allow this address to write',
  404: ': there is no such address; was it revoked, or mistyped?',
  410: ': this address was revoked',
  429: ': too many requests; it is tried again when it allows it',
};

/** Slack says in one word what is wrong, such as `invalid_blocks`. Other texts often repeat the address. */
function wordOf(text: string, url: string): string | null {
  const word = text.trim();
  return /^[a-z]+(_[a-z]+)+$/.test(word) && word.length <= 40 && !url.includes(word) ? word : null;
}

function whyOf(error: unknown): string {
  if (error instanceof ExchangeEnded) return `no response within ${seconds('alertRequest')} s`;
  return `no connection, or it was closed (${errorCode(error) || 'unknown error'})`;
}

const failed = (why: string, retryAfter: number | null = null): Delivery => ({ delivered: false, why, retryAfter });
