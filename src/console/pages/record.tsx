/** One record's whole story, found by its external id: what source, ledger and platform say, and what comes next. */
import { concludeOn } from '../../cli/commands/explain/conclusion.js';
import { factsOf } from '../../cli/commands/explain/facts.js';
import { obstaclesOf } from '../../cli/commands/explain/obstacles.js';
import { explainRecord } from '../../inspection/explain-record.js';
import { mappingsInOrder } from '../../mapping/order/mappings-in-order.js';
import { links } from '../links.js';
import type { Page, PageRequest } from '../page.js';
import { CommandLine } from '../parts/command-line.js';

export const recordPage: Page = {
  path: '/syncs/:sync/record',
  async load(request) {
    const { parts, params, query } = request;
    const sync = params['sync']!;
    const { spec } = await parts.loadSync(sync);
    const { mapping, id } = query;
    return {
      title: `Find a record of ${sync}`,
      crumbs: [{ label: 'record', href: links.record(sync) }],
      sync,
      body: (
        <>
          <form method="get" action={links.record(sync)} role="search">
            <div class="inline">
              <div>
                <label for="mapping">Mapping</label>
                <select id="mapping" name="mapping">
                  {spec.mappings.map(({ name }) => (
                    <option key={name} selected={name === mapping}>
                      {name}
                    </option>
                  ))}
                </select>
              </div>
              <div>
                <label for="id">External id</label>
                <input id="id" name="id" value={id ?? ''} required />
              </div>
              <button type="submit" class="primary">
                Explain
              </button>
            </div>
          </form>
          {mapping && id ? await story(request, sync, mapping, id) : null}
        </>
      ),
    };
  },
};

async function story({ parts, settings }: PageRequest, name: string, mappingName: string, id: string) {
  const sync = await parts.openSync(name);
  const [known] = mappingsInOrder(sync.spec, [mappingName]);
  const views = { ledger: await parts.ledger(), platform: await parts.platform() };
  const explanation = await explainRecord(views, sync, await sync.mapping(known!), id, {
    showValues: settings.showValues,
  });
  const obstacles = await obstaclesOf(parts, name);
  return (
    <>
      {explanation.records.map((record) => {
        const { why, next, delivered } = concludeOn(name, sync.spec, obstacles, explanation, record);
        return (
          <section key={record.tenant}>
            <h2>
              {mappingName} {id}
              {record.tenant === null ? '' : ` of tenant ${record.tenant}`}
            </h2>
            <div class={delivered ? 'notice' : 'notice warning'}>
              <p>{why}</p>
            </div>
            <dl class="facts">
              {factsOf(record).map(([fact, text]) => (
                <>
                  <dt>{fact}</dt>
                  <dd>{text}</dd>
                </>
              ))}
            </dl>
            {next.length === 0 ? null : (
              <>
                <h3>What comes next</h3>
                <ul>
                  {next.map((line) => (
                    <li key={line}>{line}</li>
                  ))}
                </ul>
              </>
            )}
          </section>
        );
      })}
      <CommandLine args={['explain', name, mappingName, id]} />
    </>
  );
}
