/**
 * Accepted hashes: for each record the hash of the content that the platform accepted last. `reconcile` compares them.
 */
import type { Knex } from 'knex';
import { readRecords, scanRecords, startsOfParts } from '../record-index/index.js';
import type { RecordKeys, RecordPlace } from '../record-key.js';

export interface AcceptedHash extends RecordPlace {
  /** 32 hex digits. */
  readonly contentHash: string;
}

export interface AcceptedHashPage {
  readonly acceptedHashes: readonly AcceptedHash[];
  /** Where the next page begins; null behind the last one. */
  readonly next: RecordPlace | null;
}

export interface AcceptedHashes {
  /** Accepted hashes (32 hex digits) by the index of their record in `keys`; absent if none is known. */
  hashes(mappingId: number, keys: RecordKeys): Promise<ReadonlyMap<number, string>>;
  /**
   * Divides the mapping's records into at most `most` parts of about equal size; returns where they start, in order.
   */
  cuts(mappingId: number, most: number): Promise<readonly RecordPlace[]>;
  /**
   * Some thousands of accepted hashes, in the ledger's order of records.
   *
   * @param from where the page begins: `FIRST_PLACE`, one of {@link cuts}, or the `next` of the page before
   * @param until the place before which to stop, one of {@link cuts}; null: the end
   */
  page(mappingId: number, from: RecordPlace, until: RecordPlace | null): Promise<AcceptedHashPage>;
}

const BLOCKS_OF_A_PAGE = 200;

export function openAcceptedHashes(knex: Knex): AcceptedHashes {
  return {
    async hashes(mappingId, keys) {
      const hashes = new Map<number, string>();
      await readRecords(knex, mappingId, keys, (index, { contentHash }) => {
        if (contentHash !== null) hashes.set(index, contentHash);
      });
      return hashes;
    },
    cuts: (mappingId, most) => startsOfParts(knex, mappingId, most),
    async page(mappingId, from, until) {
      const page = await scanRecords(knex, mappingId, from, until, BLOCKS_OF_A_PAGE);
      if (page === null) return { acceptedHashes: [], next: null };
      return {
        acceptedHashes: page.records.flatMap(({ tenantId, externalId, contentHash }) =>
          contentHash === null ? [] : [{ tenantId, externalId, contentHash }],
        ),
        next: page.isLast ? null : page.next,
      };
    },
  };
}
