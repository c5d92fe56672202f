/** What the settings of access do. */
import { expect } from 'vitest';
import { mintToken } from '../../../src/sandbox/token.js';
import { SECRET, statusWithHost } from '../running-sandbox.js';
import { SHOP, type Demonstrations } from './demonstration.js';

const USAGE = '/partner/engage/tenants';
const AUTOMATION = '/api/automations/news';

export const access: Demonstrations = {
  async authHeader(open) {
    const sandbox = await open({ authHeader: 'X-Platform-Token' });
    const headers = { 'x-platform-token': `Bearer ${sandbox.token}` };
    expect((await sandbox.call('GET', AUTOMATION, { ...SHOP, token: null, headers })).status).toBe(200);
    expect((await sandbox.call('GET', AUTOMATION, SHOP)).status).toBe(401);
  },
  async authScheme(open) {
    const sandbox = await open({ authScheme: '' });
    const headers = { authorization: sandbox.token };
    expect((await sandbox.call('GET', AUTOMATION, { ...SHOP, token: null, headers })).status).toBe(200);
    expect((await sandbox.call('GET', AUTOMATION, SHOP)).status).toBe(401);
  },
  async 'callers.open'(open) {
    const sandbox = await open({ callers: { open: ['platform'] } });
    expect((await sandbox.call('GET', USAGE)).status).toBe(200);
    expect((await sandbox.call('GET', USAGE, { token: null })).status).toBe(401);
  },
  async 'callers.tenant'(open) {
    const token = await mintToken({ secret: SECRET, scope: 'tenant', ...SHOP, expiresIn: '1h' });
    const statuses = async (tenant: ('platform' | 'tenant')[]) => {
      const sandbox = await open({ callers: { tenant } });
      const calls = [SHOP, { ...SHOP, token }].map((options) => sandbox.call('GET', AUTOMATION, options));
      return (await Promise.all(calls)).map(({ status }) => status);
    };
    expect(await statuses(['platform'])).toEqual([200, 403]);
    expect(await statuses(['tenant'])).toEqual([403, 200]);
  },
  async defaultTenant(open) {
    const sandbox = await open({ defaultTenant: 'shop' });
    expect((await sandbox.call('GET', AUTOMATION, { tenant: null })).status).toBe(200);
    expect((await sandbox.call('GET', AUTOMATION, { tenant: 'north' })).status).toBe(404);
  },
  async allowedHosts(open) {
    const sandbox = await open({ allowedHosts: ['sandbox.internal'] });
    expect(await statusWithHost(sandbox.url, '/health', 'sandbox.internal:8080')).toBe(200);
    expect(await statusWithHost(sandbox.url, '/health', 'other.internal')).toBe(403);
  },
};
