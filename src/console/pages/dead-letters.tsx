/** Dead letters: their causes, and the rows of one cause with the shape of what was wrong. */
import { assertKnown } from '../../cli/known-sync.js';
import { ERROR_CATALOGUE, type ErrorCode } from '../../domain/errors.js';
import type { DeadLetterCause, DeadLetterFilter, StoredDeadLetter } from '../../domain/records/dead-letter.js';
import { links } from '../links.js';
import type { Page, PageRequest } from '../page.js';
import { ActionLink } from '../parts/action-link.js';
import { CommandLine } from '../parts/command-line.js';
import { DataTable } from '../parts/data-table.js';
import { count, Moment, numbers } from '../parts/values.js';

const SHOWN = 50;

/** The parameters by which a cause is chosen: those of `partner-sync dead-letters list`. */
const CHOOSE = ['mapping', 'code', 'field', 'tenant'] as const;
type Choice = Readonly<Partial<Record<(typeof CHOOSE)[number], string>>>;

export const deadLettersPage: Page = {
  path: '/syncs/:sync/dead-letters',
  async load(request) {
    const { parts, params, query, settings } = request;
    const sync = params['sync']!;
    const choice = choiceIn(query);
    const after = /^\d{1,18}$/.test(query['after'] ?? '') ? query['after']! : '0';
    const { deadLetters } = await parts.ledger();
    const filter = filterOf(choice);
    const [causes, shown] = await Promise.all([
      deadLetters.causes(sync, filter),
      deadLetters.page(sync, filter, after, SHOWN),
    ]);
    if (causes.length === 0) await assertKnown(parts, sync);
    const total = causes.reduce((sum, cause) => sum + cause.count, 0);
    const chosen = Object.entries(choice).map(([name, value]) => `${name} ${value}`);
    return {
      title: chosen.length === 0 ? `Dead letters of ${sync}` : `Dead letters of ${sync}: ${chosen.join(', ')}`,
      crumbs: [{ label: 'dead letters', href: links.deadLetters(sync) }],
      sync,
      body: (
        <>
          <p>
            {count(total)} {total === 1 ? 'row' : 'rows'} could not be delivered.{' '}
            {chosen.length === 0 ? null : <a href={links.deadLetters(sync)}>Show all causes</a>}
          </p>
          <WhatToDo causes={causes} />
          <div class="actions">
            {total === 0 ? null : (
              <ActionLink
                action="replay"
                values={{ sync, ...choice }}
                label={chosen.length === 0 ? 'Replay all' : 'Replay these'}
                settings={settings}
              />
            )}
          </div>
          <h2>Causes</h2>
          <Causes causes={causes} sync={sync} choice={choice} />
          <h2>Rows</h2>
          <Rows shown={shown} sync={sync} />
          {shown.length < SHOWN ? null : (
            <p>
              <a href={links.deadLetters(sync, { ...choice, after: shown.at(-1)!.id })}>More</a>
            </p>
          )}
          <CommandLine
            args={['dead-letters', 'list', sync, ...CHOOSE.flatMap((name) => optionOf(name, choice[name]))]}
          />
        </>
      ),
    };
  },
};

const choiceIn = (query: PageRequest['query']): Choice =>
  Object.fromEntries(CHOOSE.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));

const filterOf = ({ mapping, code, field, tenant }: Choice): DeadLetterFilter => ({
  ...(mapping !== undefined && { mappings: [mapping] }),
  ...(code !== undefined && { codes: [code] }),
  ...(field !== undefined && { fields: [field] }),
  ...(tenant !== undefined && { tenants: [tenant] }),
});

const optionOf = (name: string, value: string | undefined): string[] =>
  value === undefined ? [] : [`--${name}`, value];

/** The remedy of each code, once. A code that this version does not know has none. */
const WhatToDo = ({ causes }: { readonly causes: readonly DeadLetterCause[] }) => (
  <>
    {[...new Set(causes.map(({ code }) => code))].map((code) =>
      Object.hasOwn(ERROR_CATALOGUE, code) ? (
        <div key={code} class="notice">
          <p>
            <code>{code}</code>: {ERROR_CATALOGUE[code as ErrorCode].remedy}
          </p>
        </div>
      ) : null,
    )}
  </>
);

interface CausesProps {
  readonly causes: readonly DeadLetterCause[];
  readonly sync: string;
  readonly choice: Choice;
}

const Causes = ({ causes, sync, choice }: CausesProps) => (
  <DataTable
    caption="Causes, the most frequent first"
    columns={['cause', ...numbers('rows'), 'mapping', 'code', 'first seen (UTC)', 'last seen (UTC)']}
    rows={causes.map(({ mapping, code, pointer, rule, count: rows, firstSeen, lastSeen }) => [
      <a href={links.deadLetters(sync, { ...choice, mapping, code, ...(pointer !== '' && { field: pointer }) })}>
        {pointer === '' ? rule : `${pointer} ${rule}`}
      </a>,
      count(rows),
      mapping,
      code,
      <Moment at={firstSeen} />,
      <Moment at={lastSeen} />,
    ])}
    none="There are no dead letters."
  />
);

const Rows = ({ shown, sync }: { readonly shown: readonly StoredDeadLetter[]; readonly sync: string }) => (
  <DataTable
    caption="Rows, the oldest dead letter first"
    columns={['key', 'record', 'tenant', 'reason', 'shape of the value', ...numbers('times'), 'last seen (UTC)']}
    rows={shown.map(({ sourceKey, externalId, mapping, tenant, pointer, reason, shape, times, lastSeen }) => [
      sourceKey.join(', '),
      externalId === null ? (
        mapping
      ) : (
        <a href={links.record(sync, mapping, externalId)}>
          {mapping} {externalId}
        </a>
      ),
      tenant === null ? '-' : <a href={links.tenant(sync, tenant)}>{tenant}</a>,
      `${pointer} ${reason}`,
      shape === '' ? '-' : <code>{shape}</code>,
      count(times),
      <Moment at={lastSeen} />,
    ])}
    none="There are no more."
  />
);
