/** Who has done what to a sync, from where, and when. */
import { assertKnown } from '../../cli/known-sync.js';
import { links } from '../links.js';
import type { Page } from '../page.js';
import { CommandLine } from '../parts/command-line.js';
import { DataTable } from '../parts/data-table.js';
import { Moment } from '../parts/values.js';

const SHOWN = 100;

export const auditPage: Page = {
  path: '/syncs/:sync/audit',
  async load({ parts, params }) {
    const sync = params['sync']!;
    const { audit } = await parts.ledger();
    const entries = await audit.latest({ sync, limit: SHOWN });
    if (entries.length === 0) await assertKnown(parts, sync);
    return {
      title: `Audit of ${sync}`,
      crumbs: [{ label: 'audit', href: links.audit(sync) }],
      sync,
      body: (
        <>
          <DataTable
            caption="The latest entries first"
            columns={['when (UTC)', 'what', 'who', 'from', 'of what']}
            rows={entries.map(({ at, action, actor: { who, origin }, subject }) => [
              <Moment at={at} />,
              action.replaceAll('_', ' '),
              who ?? '-',
              origin,
              <code>{JSON.stringify(subject)}</code>,
            ])}
            none="Nobody has done anything to this sync yet."
          />
          <CommandLine args={['audit', sync]} />
        </>
      ),
    };
  },
};
