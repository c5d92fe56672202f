/** `alerts` of sync.yaml: whom a sync tells what is wrong with it. */
import { describe, expect, it } from 'vitest';
import { HEALTH_TRIGGERS } from '../../src/domain/monitoring/sync-health.js';
import { DEFAULT_RETENTION } from '../../src/domain/sync/retention.js';
import { languageSchema } from '../../src/mapping/language/language-schema.js';
import { addressesIn, loadAlerts } from '../../src/mapping/load-alerts.js';
import { loadRetention } from '../../src/mapping/load-retention.js';
import { ENV, FILES, findingsOf, syncFolder } from './sync-on-disk.js';

const SYNC = FILES['sync.yaml']!.replace('  client: pg\n', '');
const load = (alerts: string, env: Record<string, string> = ENV, head = SYNC) =>
  loadAlerts(syncFolder({ 'sync.yaml': head + alerts }), 'shop', env);
const findings = (alerts: string): Promise<string[]> => findingsOf({ 'sync.yaml': SYNC + alerts });

it('lists the triggers that the program has', () => {
  const { definitions } = languageSchema('sync').root as unknown as {
    definitions: { alertTriggers: { items: { enum: string[] } } };
  };
  expect(definitions.alertTriggers.items.enum).toEqual(HEALTH_TRIGGERS);
});

describe('the alerts of a sync', () => {
  it('are its targets, with addresses from variables, and its ping addresses', async () => {
    const settings = await load(
      `alerts:
  - { webhook: '\${env:ALERT_URL}' }
  - { slack: 'https://hooks.example.com/T/B/X', on: [failing, late] }
  - { email: [ops@example.com] }
  - { ping: 'https://ping.example.com/1' }
limits: { success: 2h }
`,
      { ...ENV, ALERT_URL: 'https://a.example.com/1' },
    );
    expect(settings).toMatchObject({
      sync: 'shop',
      failOn: 'incomplete',
      limits: { success: 7200, paused: 86_400, waiting: 3600, retrying: 30, stalled: 4200 },
      targets: [
        { label: 'alerts[0] (webhook)', on: HEALTH_TRIGGERS, address: { url: 'https://a.example.com/1' } },
        { label: 'alerts[1] (slack)', on: ['failing', 'late'], address: { url: 'https://hooks.example.com/T/B/X' } },
        { label: 'alerts[2] (email)', address: { to: ['ops@example.com'] } },
      ],
      pings: [{ label: 'alerts[3] (ping)', url: 'https://ping.example.com/1' }],
    });
  });

  it('keep their ids when they change places', async () => {
    const ids = async (alerts: string): Promise<string[]> => {
      const settings = await load(`alerts: [${alerts}]\n`);
      return settings === 'unreadable' ? [] : settings.targets.map(({ id }) => id);
    };
    const [one, two] = ["{ webhook: 'https://a.example.com' }", "{ slack: 'https://a.example.com' }"];
    const [first, second] = await ids(`${one}, ${two}`);
    expect(first).not.toBe(second);
    expect(await ids(`${two}, ${one}`)).toEqual([second, first]);
  });

  it('can be read as long as nothing is wrong with them', async () => {
    const alerts = "alerts: [{ webhook: 'https://a.example.com' }]\n";
    expect(await load(`${alerts}tennant: x\nlimits: { success: soon }\n`)).toMatchObject({ limits: { success: null } });
    expect(await load(alerts, {})).toMatchObject({ sync: 'shop' });
    for (const none of ['', 'alerts: []\n'])
      expect(await load(none, {})).toMatchObject({ targets: [], pings: [], hasSchedules: false });
    for (const schedules of ["[{ name: nightly, cron: '30 3 * * *' }]", '[{ nmae: nightly }]'])
      expect(await load(`schedules: ${schedules}\n`)).toMatchObject({ targets: [], hasSchedules: true });
    for (const bad of ["alerts: [{ webhook: '${env:NOT_SET}' }]\n", 'alerts: [{ webhok: x }]\n', 'alerts: [\n'])
      expect(await load(bad), bad).toBe('unreadable');
    expect(await loadAlerts(syncFolder({ 'sync.yaml': null }), 'shop', ENV)).toBe('unreadable');
  });

  it('leave retention to be read by itself, unless nobody can tell what it is', async () => {
    const retention = (text: string) => loadRetention(syncFolder({ 'sync.yaml': SYNC + text }), 'shop', ENV);
    expect(await retention('')).toEqual(DEFAULT_RETENTION);
    expect(await retention('retention: { runs: 30d }\ntennant: x\n')).toEqual({
      ...DEFAULT_RETENTION,
      runs: 30 * 86_400,
    });
    for (const bad of ['retention: { runs: soon }\n', 'retention: {\n']) expect(await retention(bad)).toBeNull();
    expect(await loadRetention(syncFolder({ 'sync.yaml': null }), 'shop', ENV)).toBeNull();
  });

  it('show which addresses they have even if they cannot be read', async () => {
    const text = 'alerts: [{ ping: "${env:PING_URL}" }, { ping: "https://b.example.com/${env:NOT_SET}" }\n';
    const folder = syncFolder({ 'sync.yaml': text });
    const has = await addressesIn(folder, 'shop', { PING_URL: 'https://a.example.com/1' });
    expect(['https://a.example.com/1', 'https://b.example.com/1'].map(has)).toEqual([true, false]);
    expect((await addressesIn(syncFolder({ 'sync.yaml': null }), 'shop', {}))('https://a.example.com/1')).toBe(false);
  });
});

describe('a mistake in the alerts', () => {
  it.each([
    [
      "alerts: [{ webhook: 'hooks.example.com/SECRET' }]",
      'error bad_alert_url alerts[0].webhook: this value: must be an address that begins with https:// or http://; name a variable that holds it, as in ${env:ALERT_URL}',
    ],
    [
      "alerts: ['https://hooks.example.com/SECRET']",
      'error wrong_type alerts[0]: must be a map with webhook or slack or email or ping; got this value (text)',
    ],
    [
      "alerts: { webhook: 'https://hooks.example.com/SECRET' }",
      'error wrong_type alerts: must be a list; got this value (a map of keys)',
    ],
    [
      "alerts: [{ webhok: 'https://hooks.example.com/SECRET' }]",
      'error unknown_key alerts[0].webhok: unknown key "webhok". Did you mean "webhook"? Allowed: webhook, on',
    ],
    [
      "alerts: [{ webhook: ['https://hooks.example.com/SECRET'] }]",
      'error wrong_type alerts[0].webhook: must be text; got this value (a list)',
    ],
    [
      "alerts: [{ slack: 'https://h.example.com/SECRET', on: [lat] }]",
      'error not_allowed alerts[0].on[0]: not allowed: "lat". Did you mean "late"? Allowed: failing, feed-unreadable, feed-behind, late, paused, retrying, stalled, awaiting-approval, incomplete, waiting, lagging, dead-letters',
    ],
    [
      'alerts: [{ email: ops@example.com }]',
      'error wrong_type alerts[0].email: must be a list; got "ops@example.com" (text)',
    ],
    [
      'alerts: [{ email: [ops] }]',
      'error bad_email_address alerts[0].email[0]: "ops": must be one e-mail address, such as ops@example.com',
    ],
  ])('%s is explained without the address', async (alerts, finding) => {
    const found = await findings(`${alerts}\n`);
    expect(found).toEqual([expect.stringContaining(finding)]);
    expect(found.join()).not.toContain('SECRET');
  });
});
