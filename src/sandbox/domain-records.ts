/**
 * The DNS records with which a tenant proves that it owns a sending domain and authorizes the platform to send from it
 * (4.3).
 */
import type { DnsRecord } from '../platform/contract/sending-domains.js';
import type { DkimKey } from './dkim-key.js';

/** Seconds. Short, so that a corrected mistake takes effect soon. */
const TTL = 3_600;
/** Priority of the MX record. TXT records have none; the contract's required field is 0 for them. */
const PRIORITY = 10;

/**
 * The records to publish: DKIM, the return path with its SPF, and DMARC. `domain` is the domain that mail is sent from,
 * `mailDomain` the platform's own.
 */
export function domainRecords(domain: string, mailDomain: string, key: Pick<DkimKey, 'selector' | 'publicKey'>) {
  const text = (host: string, value: string): DnsRecord => ({ host, value, ttl: TTL, priority: 0 });
  const returnPath = `bounces.${domain}`;
  return [
    text(`${key.selector}._domainkey.${domain}`, `v=DKIM1; k=rsa; p=${key.publicKey}`),
    // The return path receives bounces, and it is the domain for which receivers check SPF.
    { host: returnPath, value: `bounces.${mailDomain}`, ttl: TTL, priority: PRIORITY },
    text(returnPath, `v=spf1 include:spf.${mailDomain} -all`),
    // For the sending domain only: a policy for the whole apex domain is the tenant's own decision.
    text(`_dmarc.${domain}`, 'v=DMARC1; p=none; adkim=r; aspf=r'),
  ];
}
