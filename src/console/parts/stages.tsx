/** The order in which a run loads mappings: a column for each stage, parents before children. */
import type { MappingSpec, SyncSpec } from '../../domain/sync/sync.js';
import type { MappingStatus } from '../../ledger/views/counts.js';
import { runningOrder } from '../../mapping/order/running-order.js';
import { mappingNode } from '../../mapping/order/stages.js';
import { links } from '../links.js';
import { DataTable } from './data-table.js';
import { count, Moment, numbers } from './values.js';

export interface StagesProps {
  readonly sync: string;
  /** Undefined where the files cannot be read. */
  readonly spec: SyncSpec | undefined;
  /** null where nobody has counted yet: the address `later` has them. */
  readonly statuses: readonly MappingStatus[] | null;
  readonly later: string;
}

export const Stages = ({ sync, spec, statuses, later }: StagesProps) => (
  <div id="stages" {...(statuses === null && { 'data-src': later })}>
    {spec === undefined ? (
      <p class="none">The files of this sync cannot be read here.</p>
    ) : (
      <ol class="stages">
        {runningOrder(spec.mappings).map(({ firstPass, full }, i) => (
          <li key={i}>
            <h3>Stage {i + 1}</h3>
            {firstPass.map((name) => (
              <div class="card">
                <p>
                  <strong>{name}</strong>
                </p>
                <p class="quiet">first without some references</p>
              </div>
            ))}
            {full.map((name) => (
              <Mapping key={name} mapping={spec.mappings.find((mapping) => mapping.name === name)!} />
            ))}
          </li>
        ))}
      </ol>
    )}
    {statuses === null ? (
      <p>
        <a href={later}>Count the records of each mapping</a>
      </p>
    ) : (
      <DataTable
        caption="Records of each mapping"
        columns={['mapping', ...numbers('accepted', 'waiting', 'dead letters'), 'read until (UTC)']}
        rows={statuses.map(({ mapping, accepted, waiting, deadLettered, readUntil }) => [
          mapping,
          count(accepted),
          count(waiting),
          deadLettered === 0 ? 0 : <a href={links.deadLetters(sync, { mapping })}>{count(deadLettered)}</a>,
          <Moment at={readUntil} />,
        ])}
        none="No run has seen a mapping yet."
      />
    )}
  </div>
);

function Mapping({ mapping }: { readonly mapping: MappingSpec }) {
  const parents = [...new Set(mappingNode(mapping).refs)];
  return (
    <div class="card">
      <p>
        <strong>{mapping.name}</strong>
      </p>
      {parents.length === 0 ? null : <p class="quiet">refers to {parents.join(', ')}</p>}
    </div>
  );
}
