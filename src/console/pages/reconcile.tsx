/** Proves that source and platform agree: explains what is compared, and starts it. */
import { assertKnown } from '../../cli/known-sync.js';
import { links } from '../links.js';
import type { Page } from '../page.js';
import { ActionLink } from '../parts/action-link.js';
import { CommandLine } from '../parts/command-line.js';

export const reconcilePage: Page = {
  path: '/syncs/:sync/reconcile',
  async load({ parts, params, settings }) {
    const sync = params['sync']!;
    await assertKnown(parts, sync);
    return {
      title: `Reconcile ${sync}`,
      crumbs: [{ label: 'reconcile', href: links.reconcile(sync) }],
      sync,
      body: (
        <>
          <p>
            Every row of the source is read, mapped, and compared with what the platform has accepted; on request, also
            with the records that the platform returns. Nothing is sent.
          </p>
          <div class="actions">
            <ActionLink action="reconcile" values={{ sync }} label="Reconcile" settings={settings} />
          </div>
          <CommandLine args={['reconcile', sync]} />
        </>
      ),
    };
  },
};
