/** 4.3: registers a domain that the tenant owns, with a DKIM key of its own, and returns the DNS records to publish. */
import { randomUUID } from 'node:crypto';
import { createDkimKey } from '../dkim-key.js';
import { domainRecords } from '../domain-records.js';
import type { DnsRecord } from '../../platform/contract/sending-domains.js';
import { Refusal } from '../refusal.js';
import { unstorable } from '../storable.js';
import type { Handler } from './handler.js';

/**
 * A domain name has at most 253 characters (RFC 1035, section 2.3.4), and the longest prefix that a record adds is
 * `<selector>._domainkey.`.
 */
const LONGEST_DOMAIN = 253 - 'ps00000000._domainkey.'.length;

/**
 * Section 4.3. Domains are compared in lower case. Refuses with `invalid`, or with `taken` if the tenant has
 * registered the domain, unless the setting `existing` returns the existing registration.
 */
export const createSendingDomain: Handler<'createSendingDomain'> = async ({ body, tenant }, { pool, settings }) => {
  const apexDomain = body.apexDomain.toLowerCase();
  const subdomain = body.subdomain.toLowerCase();
  const domain = `${subdomain}.${apexDomain}`;
  const problems = [];
  const unstorablePlace = unstorable(body);
  if (unstorablePlace !== undefined) problems.push(`body${unstorablePlace}`);
  if (domain.length > LONGEST_DOMAIN)
    problems.push(
      `body/apexDomain: "${domain}" is longer than ${LONGEST_DOMAIN} characters, so its DNS records would not fit`,
    );
  if (/\.\d+$/.test(apexDomain)) problems.push('body/apexDomain is an IP address; it must be the name of a domain');
  if (problems.length > 0) throw new Refusal('invalid', 'the sending domain is not valid', problems);

  const id = randomUUID();
  const key = await createDkimKey();
  const dnsRecords = domainRecords(domain, settings.mailDomain, key);
  const { rowCount } = await pool.query(
    `insert into sandbox.sending_domains
       (tenant_id, id, apex_domain, subdomain, user_part, email_from_name, email_reply_to, make_default_when_verified,
        dkim_selector, dkim_private_key, dns_records)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     on conflict on constraint sending_domains_name_unique do nothing`,
    [
      tenant.id,
      id,
      apexDomain,
      subdomain,
      body.userPart,
      body.emailFromName,
      body.emailReplyTo ?? null,
      // "Defaults to true for tenant-owned domains when omitted" (4.3), and this operation registers only those.
      body.makeDefaultWhenVerified ?? true,
      key.selector,
      key.privateKey,
      JSON.stringify(dnsRecords),
    ],
  );
  if (rowCount === 0 && settings.existing === 'answer') {
    const { rows } = await pool.query<{ id: string; dns_records: DnsRecord[] }>(
      'select id, dns_records from sandbox.sending_domains where tenant_id = $1 and apex_domain = $2 and subdomain = $3',
      [tenant.id, apexDomain, subdomain],
    );
    const { id: existing, dns_records: records } = rows[0]!;
    return { message: `sending domain "${domain}" is already registered`, data: { id: existing, dnsRecords: records } };
  }
  if (rowCount === 0) throw new Refusal('taken', `the tenant has already registered "${domain}"`);
  return { message: `sending domain "${domain}" registered; add its records to the DNS`, data: { id, dnsRecords } };
};
