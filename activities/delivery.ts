/** Collects what becomes of a group's rows, until one checkpoint writes it. */
import type { MappedRecord, UnmappableRow } from '../src/domain/record.js';
import type { LetterList } from '../src/domain/letter-list.js';
import type { RecordList } from '../src/domain/record-list.js';
import type { Clashes } from './clashes.js';
import type { Verdict } from '../src/state/claims.js';
import {
  deadLettersOf,
  endsOf,
  type Column,
  type DeadLetter,
  type GroupOutcome,
  type RowEnd,
  type WaitingRecord,
} from '../src/state/group-outcome.js';
import type { Bulk, RecordOutcome } from '../src/state/record-outcomes.js';
import { ALL_ACCEPTED, type Fates, type RecordFate } from './settle-batch.js';
import type { SentBatch } from './upload-batch.js';

/** What is to be written of a group, but for where it stands in its range. */
export type Delivery = Omit<GroupOutcome, 'reading' | 'readTwice' | 'position' | 'done'>;

/** Seconds until a record that was busy elsewhere, or whose fate is unclear, is read again. */
const READ_AGAIN_IN = 1;

/** Of a record that is to be read and sent again. */
const AGAIN = { batchId: null, contentHash: null, missing: [], expiresAt: null };

/** @param holdFor seconds for which the platform was asked to hold children whose parents are missing */
export function startDelivery(tenantIdOf: (tenant: string | null) => number, holdFor: number) {
  const outcomes: RecordOutcome[] = [];
  const settled: string[] = [];
  const held: { id: string; externalIds: string[] }[] = [];
  const waiting: WaitingRecord[] = [];
  const deadLetters: DeadLetter[] = [];
  const ends: RowEnd[] = [];
  const bulk: Bulk[] = [];

  const sent = ({ tenant, externalId, contentHash }: MappedRecord) => ({
    ...{ tenantId: tenantIdOf(tenant), externalId, contentHash },
  });
  const end = (record: MappedRecord, column: Column): void => {
    const { externalId, sourceKey } = record;
    ends.push({ tenantId: tenantIdOf(record.tenant), externalId, sourceKey, column });
  };
  const wait = (record: MappedRecord, rest: Omit<WaitingRecord, 'tenantId' | 'externalId' | 'sourceKey'>): void => {
    waiting.push({
      tenantId: tenantIdOf(record.tenant),
      externalId: record.externalId,
      sourceKey: record.sourceKey,
      ...rest,
    });
    end(record, 'waiting');
  };
  const readAgain = (record: MappedRecord, reason: 'busy' | 'unclear'): void =>
    wait(record, { ...AGAIN, reason, dueIn: READ_AGAIN_IN });

  const dead = (row: UnmappableRow): void => {
    const { kind: _, tenant, ...letter } = row;
    deadLetters.push({ ...letter, tenantId: tenantIdOf(tenant) });
    ends.push({
      tenantId: tenantIdOf(tenant),
      externalId: row.externalId,
      sourceKey: row.sourceKey,
      column: 'deadLettered',
    });
  };
  const rejected = (record: MappedRecord, words: string): void => {
    outcomes.push({ ...sent(record), outcome: 'rejected' });
    dead(refusedByPlatform(record, words));
  };
  const orphaned = (record: MappedRecord, { outcome, missing, refusal }: Orphaned): void => {
    outcomes.push({ ...sent(record), outcome });
    wait(record, { ...AGAIN, reason: 'expired', missing, refusal, dueIn: READ_AGAIN_IN });
  };
  const settle = (batchId: string | null): void => {
    if (batchId !== null) settled.push(batchId);
  };
  const fate = (record: MappedRecord, fates: ReadonlyMap<string, RecordFate>, batchId: string | null): boolean => {
    const known = fates.get(record.externalId) ?? { kind: 'unclear' };
    switch (known.kind) {
      case 'accepted':
        outcomes.push({ ...sent(record), outcome: 'accepted' });
        end(record, 'accepted');
        return false;
      case 'rejected':
        rejected(record, known.words);
        return false;
      case 'orphaned':
        orphaned(record, known);
        return false;
      case 'unclear':
        outcomes.push({ ...sent(record), outcome: 'unclear' });
        readAgain(record, 'unclear');
        return false;
      case 'waiting':
        wait(record, {
          ...{ reason: 'dependency', batchId, contentHash: record.contentHash },
          ...{ missing: known.missing, expiresAt: known.expiresAt, dueIn: holdFor },
        });
        return true;
    }
  };
  let unmapped: Delivery['unmapped'];
  return {
    dead,
    unmapped(letters: LetterList): void {
      if (letters.length > 0) unmapped = { letters, tenantIdOf };
    },
    /** The records' own rows end here; of the others it is only noted that they clash. */
    clashes(found: Clashes): void {
      for (const [own, ...others] of found.values()) {
        dead(own!);
        for (const { kind: _, tenant, ...letter } of others)
          deadLetters.push({ ...letter, tenantId: tenantIdOf(tenant) });
      }
    },
    /** What is not sent, by index; of those that were `met` more has to be found out. */
    verdicts(records: RecordList, verdicts: readonly (Verdict | undefined)[]): void {
      const alike = { accepted: new Map<string, number[]>(), unchanged: new Map<string, number[]>() };
      verdicts.forEach((verdict, index) => {
        if (verdict === undefined || verdict === 'met') return;
        if (verdict === 'busy') readAgain(records.at(index), 'busy');
        else if (verdict === 'waiting') end(records.at(index), 'waiting');
        else {
          const tenant = records.tenantAt(index);
          const same = alike[verdict].get(tenant);
          if (same === undefined) alike[verdict].set(tenant, [index]);
          else same.push(index);
        }
      });
      for (const column of ['accepted', 'unchanged'] as const)
        for (const [tenant, indexes] of alike[column])
          bulk.push({ tenantId: tenantIdOf(tenant), column, sent: false, records: records.only(indexes) });
    },
    batch(batch: SentBatch, fates: Fates): void {
      if (fates === ALL_ACCEPTED) {
        bulk.push({ tenantId: batch.tenantId, column: 'accepted', sent: true, records: batch.records });
        settle(batch.id);
        return;
      }
      const open = batch.records.filter((record) => fate(record, fates, batch.id));
      if (open.length > 0) held.push({ id: batch.id!, externalIds: open.externalIds });
      else settle(batch.id);
    },
    /** A record that the platform refused alone; `orphan`: what it lacks, if it lacks a parent. */
    refused(batchId: string | null, record: MappedRecord, words: string, orphan: Orphaned | null): void {
      if (orphan === null) rejected(record, words);
      else orphaned(record, orphan);
      settle(batchId);
    },
    finish: (): Delivery => ({
      bulk,
      records: outcomes,
      settled,
      held,
      waiting,
      deadLetters,
      ends,
      ...(unmapped === undefined ? {} : { unmapped }),
    }),
  };
}

type Orphaned = Omit<Extract<RecordFate, { kind: 'orphaned' }>, 'kind'>;

/** The dead letter of a record that the platform did not take; `words` are masked. */
export const refusedByPlatform = (
  { tenant, externalId, sourceKey }: Pick<MappedRecord, 'tenant' | 'externalId' | 'sourceKey'>,
  words: string,
): UnmappableRow => ({
  ...{ kind: 'unmappable', tenant, externalId, sourceKey },
  ...{ code: 'platform_refused', rule: 'refused by the platform', shape: '' },
  pointer: /(\/[\w/-]+)/.exec(words)?.[1] ?? '',
  reason: words === '' ? 'the platform counts it as failed, and does not say why' : words,
});

/** The same, with what ended alike told row by row: for those who look at single rows. */
export function rowByRow(delivery: Delivery): Delivery {
  const { unmapped: _, ...rest } = delivery;
  const sent = delivery.bulk.filter((bulk) => bulk.sent);
  return {
    ...rest,
    bulk: [],
    ends: endsOf(delivery),
    deadLetters: [...deadLettersOf(delivery)],
    records: [
      ...delivery.records,
      ...sent.flatMap(({ tenantId, records }) =>
        records.map(({ externalId, contentHash }) => ({
          ...{ tenantId, externalId, contentHash },
          outcome: 'accepted' as const,
        })),
      ),
    ],
  };
}
