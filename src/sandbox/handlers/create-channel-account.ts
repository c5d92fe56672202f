/** 4.9: creates the tenant's account on a channel integration; an account for email has a domain of its own. */
import { createHash, randomUUID } from 'node:crypto';
import { isUuid } from '../../domain/values/names.js';
import { Refusal } from '../refusal.js';
import { unstorable } from '../storable.js';
import type { Handler, Services } from './handler.js';

/** What an account needs of its channel integration. */
interface Integration {
  readonly id: string;
  readonly name: string;
  readonly channel_integration_type: 'email' | 'sms';
  readonly metadata: { readonly type: string; readonly customDomainEnabled: boolean };
}

/** One label of a domain name (RFC 1035): 1 to 63 letters, digits and inner hyphens. */
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;

/**
 * Section 4.9. The base domain of an email account is `<prefix>.t-<tenant>.<mailDomain>`; it is verified at once if
 * the domain is the platform's.
 *
 * Refuses with `notFound` for an unknown integration, `invalid` for metadata that does not fit it, and `taken` if
 * the prefix is in use, unless the setting `existing` returns the existing account.
 */
export const createChannelAccount: Handler<'createChannelAccount'> = async ({ body, tenant }, services) => {
  const { channelIntegrationId, channelAccountMetadata: given } = body;
  const integration = await findIntegration(services, channelIntegrationId);
  const { channels, existing, mailDomain } = services.settings;
  const problems = [
    ...unstorableIn(given),
    ...(channels.combinations === 'checked' ? mismatches(given, integration) : []),
  ];
  if (problems.length > 0) throw new Refusal('invalid', 'the channel account is not valid', problems);

  const { domainPrefix, ...rest } = given;
  const isEmail = integration.channel_integration_type === 'email';
  // With the setting `combinations: any`, an email account may lack a prefix and an SMS account may carry one.
  const prefix = isEmail ? (domainPrefix ?? 'mail').toLowerCase() : '';
  const id = randomUUID();
  // The domain contains the tenant, so that no tenant can take a name from another or discover that it is in use.
  const baseDomain = `${prefix}.t-${digitsOf(tenant.businessId)}.${mailDomain}`;
  // The platform vouches for its own domain; a custom domain has yet to be verified.
  const verified = channels.verified && !integration.metadata.customDomainEnabled;
  const metadata = {
    ...rest,
    type: integration.metadata.type,
    ...(isEmail && {
      baseDomain,
      dkimVerified: verified,
      dmarcVerified: verified,
      verifiedReturnPath: verified,
    }),
  };
  const name = isEmail ? baseDomain : integration.name;
  const { rows } = await services.pool.query<{ created_at: Date }>(
    `insert into sandbox.channel_accounts (tenant_id, id, channel_integration_id, name, domain_prefix, metadata)
     values ($1, $2, $3, $4, $5, $6)
     on conflict on constraint channel_accounts_prefix_unique do nothing returning created_at`,
    [tenant.id, id, integration.id, name, prefix, JSON.stringify(metadata)],
  );
  if (rows[0] === undefined && existing === 'answer')
    return {
      message: 'the channel account already exists',
      data: await findAccount(services, tenant.id, integration.id, prefix),
    };
  if (rows[0] === undefined)
    throw new Refusal(
      'taken',
      prefix === ''
        ? 'the tenant already has an account on this channel integration'
        : `the tenant already has an account with the domain prefix "${prefix}" on this channel integration`,
    );
  const createdAt = rows[0].created_at.toISOString();
  return { message: 'channel account created', data: { id, name, createdAt, channelAccountMetadata: metadata } };
};

/** Twelve hex digits that stand for a tenant. Its business id may begin like that of a neighbour, if both were made at one time. */
const digitsOf = (businessId: string): string => createHash('sha256').update(businessId).digest('hex').slice(0, 12);

/**
 * The channel integration, or a `notFound` refusal. An id that is not a uuid cannot exist, and would make the query
 * fail.
 */
async function findIntegration({ pool }: Services, id: string): Promise<Integration> {
  const { rows } = await pool.query<Integration>(
    'select id, name, channel_integration_type, metadata from sandbox.channel_integrations where id = $1',
    [isUuid(id) ? id : null],
  );
  if (rows[0] === undefined) throw new Refusal('notFound', `no channel integration with the id ${JSON.stringify(id)}`);
  return rows[0];
}

/** The account that already has this prefix, in the form of the response. */
async function findAccount({ pool }: Services, tenantId: string, integrationId: string, prefix: string) {
  const { rows } = await pool.query<{ id: string; name: string; metadata: object; created_at: Date }>(
    `select id, name, metadata, created_at from sandbox.channel_accounts
      where tenant_id = $1 and channel_integration_id = $2 and domain_prefix = $3`,
    [tenantId, integrationId, prefix],
  );
  const { id, name, metadata, created_at: createdAt } = rows[0]!;
  return { id, name, createdAt: createdAt.toISOString(), channelAccountMetadata: metadata };
}

const PLACE = 'body/channelAccountMetadata';

/** The part of the caller's metadata that is checked. */
interface Given {
  readonly type?: string;
  readonly domainPrefix?: string;
}

/** Problems of the metadata by itself: values that cannot be stored, and a prefix that is not a domain label. */
function unstorableIn(given: Given): string[] {
  const problems: string[] = [];
  const place = unstorable(given);
  if (place !== undefined) problems.push(`${PLACE}${place}`);
  if (given.domainPrefix !== undefined && !LABEL.test(given.domainPrefix))
    problems.push(`${PLACE}/domainPrefix must be one label of a domain: 1 to 63 letters, digits and inner hyphens`);
  return problems;
}

/** Problems of the metadata with this channel integration: another type, a missing prefix, or a prefix on SMS. */
function mismatches(given: Given, { channel_integration_type: channel, metadata }: Integration): string[] {
  const problems: string[] = [];
  if (given.type !== undefined && given.type !== metadata.type)
    problems.push(`${PLACE}/type is "${given.type}", but the channel integration's is "${metadata.type}"`);
  if (channel === 'email' && given.domainPrefix === undefined)
    problems.push(`${PLACE}/domainPrefix is required on a channel integration for email`);
  if (channel === 'sms' && given.domainPrefix !== undefined)
    problems.push(`${PLACE}/domainPrefix is for email, but the channel integration is for SMS`);
  return problems;
}
