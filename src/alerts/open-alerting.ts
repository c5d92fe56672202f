/** Reads the alerts of all syncs, and tells people what is wrong with them. */
import type { Alerting, AlertSettings, AlertTarget, Delivery, Notice } from '../domain/alerts.js';
import { requireVariable, type Env } from '../config/environment.js';
import { PartnerSyncError } from '../domain/errors.js';
import { listSyncs } from '../mapping/sync-folder.js';
import { loadAlerts } from '../mapping/load-alerts.js';
import { sendHttp } from './send-http.js';
import { slackMessage } from './slack-message.js';

/** Reads files and variables again at each use, so that a correction is heard of at once. */
export function openAlerting(env: Env, mappingsFolder: () => Promise<string>): Alerting {
  return {
    async all() {
      const folder = await mappingsFolder();
      const syncs: AlertSettings[] = [];
      const unreadable: string[] = [];
      for (const sync of await listSyncs(folder)) {
        const settings = await loadAlerts(folder, sync, env);
        if (settings === 'unreadable') unreadable.push(sync);
        else if (settings !== null) syncs.push(settings);
      }
      return { syncs, unreadable };
    },
    async of(sync) {
      const settings = await loadAlerts(await mappingsFolder(), sync, env);
      return settings === 'unreadable' ? null : settings;
    },
    send: (target, notice) => send(env, target, notice),
    ping: ({ url }) => sendHttp(url, null),
  };
}

async function send(env: Env, { address }: AlertTarget, notice: Notice): Promise<Delivery> {
  if (address.kind !== 'email') return sendHttp(address.url, address.kind === 'slack' ? slackMessage(notice) : notice);
  try {
    const url = await requireVariable(env, 'PARTNER_SYNC_SMTP_URL');
    const from = await requireVariable(env, 'PARTNER_SYNC_SMTP_FROM');
    // Loaded only where mail is sent: most workers send none.
    const { sendMail } = await import('./send-mail.js');
    return await sendMail({ url, from }, address.to, notice);
  } catch (error) {
    if (!(error instanceof PartnerSyncError)) throw error;
    return { delivered: false, why: error.message, retryAfter: null };
  }
}
