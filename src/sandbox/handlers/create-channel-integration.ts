/** 4.11: creates a channel integration of the platform account, which all of its tenants can use. */
import { randomUUID } from 'node:crypto';
import { inTransaction } from '../database.js';
import { Refusal } from '../refusal.js';
import { unstorable } from '../storable.js';
import type { Handler } from './handler.js';

/** Providers that carry only one kind of message. */
const CARRIES: Readonly<Record<string, string>> = { 'service-managed-mail': 'email', 'service-managed-sms': 'sms' };

/**
 * Section 4.11. Missing metadata is filled in from the provider. Refuses with `invalid` if provider and type do not
 * go together, unless the setting `channels.combinations` is `any`.
 */
export const createChannelIntegration: Handler<'createChannelIntegration'> = async ({ body }, { pool, settings }) => {
  const { channel_provider: provider, channel_integration_type: type, channel_integration_metadata: given } = body;
  const problems = [];
  const unstorablePlace = unstorable(given);
  if (unstorablePlace !== undefined) problems.push(`body/channel_integration_metadata${unstorablePlace}`);
  const carried = CARRIES[provider];
  if (settings.channels.combinations === 'checked' && carried !== undefined && carried !== type)
    problems.push(`body/channel_integration_type is "${type}", but "${provider}" carries "${carried}" only`);
  if (problems.length > 0) throw new Refusal('invalid', 'the channel integration is not valid', problems);

  const id = randomUUID();
  const metadata = { type: provider, customDomainEnabled: false, cloudCustomDomainInfo: null, ...given };
  await inTransaction(pool, async (db) => {
    // Serialized: pages of 4.12 follow the sequence, and would skip a smaller number that is committed later.
    await db.query(`select pg_advisory_xact_lock(hashtextextended('sandbox channel integrations', 0))`);
    await db.query(
      `insert into sandbox.channel_integrations (id, name, channel_provider, channel_integration_type, metadata)
       values ($1, $2, $3, $4, $5)`,
      [id, `${provider} ${type}`, provider, type, JSON.stringify(metadata)],
    );
  });
  return { message: 'channel integration created', data: { id, channel_integration_metadata: metadata } };
};
