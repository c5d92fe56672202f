/** The DNS records by which a tenant proves that a sending domain is its own, and lets the platform send for it. */
import type { DnsRecord } from '../platform/contract/sending-domains.js';
import type { DkimKey } from './dkim-key.js';

/** Seconds; short, so that a mistake is soon corrected. */
const TTL = 3_600;
/** Of the MX record; the others are TXT, which have none. */
const PRIORITY = 10;

/** `domain` is where mail is sent from, `mailDomain` the platform's own. */
export function domainRecords(domain: string, mailDomain: string, key: Pick<DkimKey, 'selector' | 'publicKey'>) {
  const text = (host: string, value: string): DnsRecord => ({ host, value, ttl: TTL, priority: 0 });
  const returnPath = `bounces.${domain}`;
  return [
    text(`${key.selector}._domainkey.${domain}`, `v=DKIM1; k=rsa; p=${key.publicKey}`),
    // The return path takes bounces, and is what receivers check SPF for.
    { host: returnPath, value: `bounces.${mailDomain}`, ttl: TTL, priority: PRIORITY },
    text(returnPath, `v=spf1 include:spf.${mailDomain} -all`),
    // Of the sending domain only: a policy for the whole apex domain is not ours to set.
    text(`_dmarc.${domain}`, 'v=DMARC1; p=none; adkim=r; aspf=r'),
  ];
}
