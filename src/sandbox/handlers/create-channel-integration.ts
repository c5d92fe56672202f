/** 4.11: creates a channel integration of the platform account, for all of its tenants. */
import { randomUUID } from 'node:crypto';
import { inTransaction } from '../database.js';
import { Refusal } from '../refusal.js';
import { unstorable } from '../storable.js';
import type { Handler } from './handler.js';

/** Providers that carry one kind of message only. */
const CARRIES: Readonly<Record<string, string>> = { 'service-managed-mail': 'email', 'service-managed-sms': 'sms' };

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
    // One after the other: the list is read in the order of the sequence, and a smaller number that is committed
    // later would be passed over.
    await db.query(`select pg_advisory_xact_lock(hashtextextended('sandbox channel integrations', 0))`);
    await db.query(
      `insert into sandbox.channel_integrations (id, name, channel_provider, channel_integration_type, metadata)
       values ($1, $2, $3, $4, $5)`,
      [id, `${provider} ${type}`, provider, type, JSON.stringify(metadata)],
    );
  });
  return { message: 'channel integration created', data: { id, channel_integration_metadata: metadata } };
};
