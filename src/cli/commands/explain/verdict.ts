/** The one sentence that explains a record's place, and what to do: from what source, ledger and platform say. */
import type { ExplainedRecord, Explanation } from '../../../../activities/explain-record.js';
import { PARENT_REASONS } from '../../../domain/parent.js';
import type { SyncSpec } from '../../../domain/sync.js';

export interface RecordVerdict {
  /** The record is on the platform as its row says, or marked since its row is gone. */
  readonly delivered: boolean;
  readonly state:
    | 'delivered'
    | 'being_sent'
    | 'waiting'
    | 'dead_letter'
    | 'unmappable'
    | 'changed_since'
    | 'altered_on_platform'
    | 'not_sent_yet'
    | 'removed'
    | 'row_gone'
    | 'never_seen';
  readonly why: string;
  readonly next: readonly string[];
}

export function verdictOf(sync: string, spec: SyncSpec, about: Explanation, record: ExplainedRecord): RecordVerdict {
  const { row, receipt, waiting, batch, deadLetters, platform } = record;
  const { mapping, externalId } = about;
  const verdict = (state: RecordVerdict['state'], why: string, ...next: string[]): RecordVerdict => ({
    delivered: state === 'delivered' || state === 'removed',
    state,
    why,
    next,
  });
  const again = `send it now: partner-sync backfill ${sync} --mapping ${mapping} --external-id ${externalId}`;
  const replay = `once it is mended: partner-sync dead-letters replay ${sync} --mapping ${mapping}`;
  const [letter] = deadLetters;

  if (waiting !== null)
    return verdict(
      'waiting',
      WAITING[waiting.reason] ?? `it waits (${waiting.reason})`,
      `it is looked at again by the first run after ${waiting.dueAt}${scheduled(spec)}`,
      ...waiting.missing.map(
        (m) => `explain the parent: partner-sync explain ${sync} ${parentMapping(spec, m.schemaName)} ${m.externalId}`,
      ),
    );
  if (batch !== null)
    return verdict(
      'being_sent',
      'a batch on its way holds it; its outcome is not known yet',
      `follow it: partner-sync status ${sync}`,
    );
  if (row?.unmappable != null)
    return verdict(
      'unmappable',
      `its row cannot be mapped: ${row.unmappable.pointer} ${row.unmappable.reason}`,
      replay,
    );
  if (row === null) return withoutRow(sync, spec, about, record, verdict);
  if (letter !== undefined && receipt !== 'equal')
    return verdict('dead_letter', `it is a dead letter: ${letter.code} ${letter.reason}`, replay);
  if (receipt === 'equal')
    return platform.kind === 'equal' || platform.kind === 'unknown'
      ? verdict('delivered', 'the platform has accepted it')
      : verdict(
          'altered_on_platform',
          'the platform has accepted it, but what it has now is not what was sent: somebody else has changed or removed it',
          `no run sends it while its row is as it was; change the row, or ask whoever writes to the platform`,
        );
  if (platform.kind === 'equal')
    return verdict('delivered', 'it is on the platform as its row says, though the ledger has no receipt of that');
  return receipt === 'different'
    ? verdict(
        'changed_since',
        `its row has changed since it was accepted; a run that reads it sends it${scheduled(spec)}`,
        again,
      )
    : verdict(
        'not_sent_yet',
        `${receipt === 'none' ? 'no run has delivered it yet' : 'it was never sent, or not as its row is now'}; a run that reads its row sends it${scheduled(spec)}`,
        again,
      );
}

function withoutRow(
  sync: string,
  spec: SyncSpec,
  { certain, mapping, externalId }: Explanation,
  { receipt, deadLetters, platform }: ExplainedRecord,
  verdict: (state: RecordVerdict['state'], why: string, ...next: string[]) => RecordVerdict,
): RecordVerdict {
  const unsure = certain ? [] : ['the mapping transforms the external id, so a row with another spelling may exist'];
  if (receipt === 'removed')
    return verdict('removed', 'its row is no longer in the source, and the platform has accepted what `deletes` says');
  if (receipt === 'equal' || receipt === 'different' || deadLetters.length > 0 || platform.kind === 'there')
    return verdict(
      'row_gone',
      platform.kind === 'there'
        ? `it is on the platform, and its row is no longer in the source: ${unmarked(spec, mapping)}`
        : 'its row is no longer in the source',
      ...unsure,
      ...(deadLetters.length > 0 ? [`its dead letter closes with: partner-sync dead-letters replay ${sync}`] : []),
    );
  return verdict(
    'never_seen',
    'nobody has ever seen it: no row of the source gives this external id, and neither ledger nor platform knows it',
    `check that "${externalId}" is spelled as the mapping ${mapping} makes it, blanks and capitals included`,
    'check that its row exists, and that the table or query of the mapping does not leave it out',
    ...unsure,
  );
}

/** Why a record whose row is gone is as it was. */
function unmarked({ mappings }: SyncSpec, mapping: string): string {
  const deletes = mappings.find((m) => m.name === mapping)?.deletes ?? null;
  return deletes === null || deletes.action === 'ignore'
    ? 'the mapping does not say with `deletes` what becomes of it'
    : 'a mirror run marks it as `deletes` says';
}

const WAITING: Readonly<Record<string, string>> = {
  ...PARENT_REASONS,
  dependency: 'the platform holds it until its parent is there',
  expired: 'its parent did not come in time; it is sent again',
  busy: 'another batch held it, or it was read too early to be sure; it is read again',
  unclear: 'the platform did not say what became of it; it is read and sent again',
};

const scheduled = ({ schedules }: SyncSpec): string =>
  schedules.length === 0 ? '' : ` (scheduled: ${schedules.map((s) => s.name).join(', ')})`;

const parentMapping = (spec: SyncSpec, schemaName: string): string =>
  spec.mappings.find((m) => m.schema.name === schemaName)?.name ?? schemaName;
