/** The tenants of a sync, those with the most failures first, and one tenant's failures. */
import { assertKnown } from '../../cli/known-sync.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { quantityToBound } from '../../domain/values/quantity.js';
import { links } from '../links.js';
import type { Page } from '../page.js';
import { ActionLink } from '../parts/action-link.js';
import { DataTable } from '../parts/data-table.js';
import { count, Moment, numbers } from '../parts/values.js';

const SHOWN = 100;

export const tenantsPage: Page = {
  path: '/syncs/:sync/tenants',
  async load({ parts, params, query }) {
    const sync = params['sync']!;
    const search = query['search']?.trim() ?? '';
    const { tenantCounts } = await parts.ledger();
    const tenants = await tenantCounts.of(sync, { search, limit: SHOWN + 1 });
    if (tenants.length === 0) await assertKnown(parts, sync);
    return {
      title: `Tenants of ${sync}`,
      crumbs: [{ label: 'tenants', href: links.tenants(sync) }],
      sync,
      body: (
        <>
          <form method="get" action={links.tenants(sync)} role="search">
            <div class="inline">
              <div>
                <label for="search">Tenants whose id begins with</label>
                <input id="search" name="search" value={search} />
              </div>
              <button type="submit">Find</button>
            </div>
          </form>
          <DataTable
            caption="Tenants, those with the most dead letters and waiting records first"
            columns={['tenant', ...numbers('accepted', 'waiting', 'dead letters')]}
            rows={tenants
              .slice(0, SHOWN)
              .map(({ tenant, accepted, waiting, deadLettered }) => [
                <a href={links.tenant(sync, tenant)}>{tenant}</a>,
                count(accepted),
                count(waiting),
                count(deadLettered),
              ])}
            none={search === '' ? 'No record of a tenant has been sent yet.' : 'No tenant of this sync is called so.'}
          />
          {tenants.length > SHOWN ? <p>The first {SHOWN} are shown.</p> : null}
        </>
      ),
    };
  },
};

export const tenantPage: Page = {
  path: '/syncs/:sync/tenants/:tenant',
  async load({ parts, params, settings }) {
    const [sync, tenant] = [params['sync']!, params['tenant']!];
    const { tenantCounts, deadLetters } = await parts.ledger();
    const [mappings, causes] = await Promise.all([
      tenantCounts.ofTenant(sync, tenant),
      deadLetters.causes(sync, { tenants: [tenant] }),
    ]);
    if (mappings.length === 0) {
      await assertKnown(parts, sync);
      throw new PartnerSyncError('input_invalid', `${sync} has no records of a tenant "${tenant}"`);
    }
    const dead = causes.reduce((sum, cause) => sum + cause.count, 0);
    return {
      title: `Tenant ${tenant} of ${sync}`,
      crumbs: [
        { label: 'tenants', href: links.tenants(sync) },
        { label: tenant, href: links.tenant(sync, tenant) },
      ],
      sync,
      body: (
        <>
          <DataTable
            caption="Records of each mapping"
            columns={['mapping', ...numbers('accepted', 'waiting', 'dead letters')]}
            rows={mappings.map(({ mapping, accepted, waiting, deadLettered }) => [
              mapping,
              count(accepted),
              count(waiting),
              count(deadLettered),
            ])}
            none=""
          />
          <h2>Failures</h2>
          <div class="actions">
            {dead === 0 ? null : (
              <ActionLink
                action="replay"
                values={{ sync, tenant }}
                label={`Replay ${quantityToBound(dead, 'dead letter')}`}
                settings={settings}
              />
            )}
          </div>
          <DataTable
            caption="Causes of dead letters, the most frequent first"
            columns={['cause', ...numbers('rows'), 'mapping', 'code', 'last seen (UTC)']}
            rows={causes.map(({ mapping, code, pointer, rule, count: rows, lastSeen }) => [
              <a href={links.deadLetters(sync, { tenant, mapping, code, ...(pointer !== '' && { field: pointer }) })}>
                {`${pointer} ${rule}`}
              </a>,
              count(rows),
              mapping,
              code,
              <Moment at={lastSeen} />,
            ])}
            none="This tenant has no dead letters."
          />
        </>
      ),
    };
  },
};
