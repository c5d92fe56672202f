/** Reads the alerts of all syncs, and sends their notifications. */
import {
  hasAlerts,
  type Alerting,
  type AlertSettings,
  type AlertTarget,
  type Delivery,
  type Notification,
  type UnreadableAlerts,
} from '../domain/monitoring/alerts.js';
import { requireVariable, type Env } from '../config/environment.js';
import { PartnerSyncError } from '../domain/errors.js';
import { listSyncs } from '../mapping/sync-folder.js';
import { addressesIn, loadAlerts } from '../mapping/load-alerts.js';
import { sendHttp } from './send-http.js';
import { slackMessage } from './slack-message.js';

/** Reads files and variables again at each use, so that a correction is heard of at once. */
export function openAlerting(env: Env, mappingsFolder: () => Promise<string>): Alerting {
  return {
    async all() {
      const folder = await mappingsFolder();
      const syncs: AlertSettings[] = [];
      const unreadable: UnreadableAlerts[] = [];
      for (const sync of await listSyncs(folder)) {
        const settings = await loadAlerts(folder, sync, env);
        if (settings === 'unreadable') unreadable.push({ sync, hasPing: await addressesIn(folder, sync, env) });
        else syncs.push(settings);
      }
      return { syncs, unreadable };
    },
    async of(sync) {
      const settings = await loadAlerts(await mappingsFolder(), sync, env);
      return settings === 'unreadable' || !hasAlerts(settings) ? null : settings;
    },
    send: (target, notification) => send(env, target, notification),
    ping: ({ url }) => sendHttp(url, null),
  };
}

async function send(env: Env, { address }: AlertTarget, notification: Notification): Promise<Delivery> {
  if (address.kind !== 'email')
    return sendHttp(address.url, address.kind === 'slack' ? slackMessage(notification) : notification);
  try {
    const url = await requireVariable(env, 'PARTNER_SYNC_SMTP_URL');
    const from = await requireVariable(env, 'PARTNER_SYNC_SMTP_FROM');
    // Loaded only where mail is sent: most workers send none.
    const { sendMail } = await import('./send-mail.js');
    return await sendMail({ url, from }, address.to, notification);
  } catch (error) {
    if (!(error instanceof PartnerSyncError)) throw error;
    return { delivered: false, why: error.message, retryAfter: null };
  }
}
