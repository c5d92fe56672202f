/** Dead letters in the ledger: written by readings, closed by later ones. */
import type { Knex } from 'knex';
import { isKeepable } from '../domain/external-id.js';
import { foreignText } from '../domain/foreign-text.js';
import type { ParentName } from '../domain/parent.js';
import { deadLettersOf, mappedEndsOf, type DeadLetter, type GroupOutcome } from './group-outcome.js';
import { prepared } from './prepared.js';
import type { TakenRange } from './ranges.js';

/** Of a key as jsonb, whose text is always the same: what {@link writeDeadLetters} tells letters apart by. */
const KEY_HASH = (key: string): string => `sha256(convert_to(${key}::text, 'UTF8'))`;

/** A row whose record is on the platform now has no dead letter any more, unless a later reading wrote it. */
export async function closeDeadLetters(trx: Knex, mappingId: number, group: GroupOutcome): Promise<void> {
  const delivered = mappedEndsOf(group).filter((e) => e.column === 'accepted' || e.column === 'unchanged');
  if (delivered.length === 0) return;
  await trx.raw(
    `DELETE FROM dead_letters WHERE mapping_id = ? AND read_stamp < ? AND key_hash IN
       (SELECT ${KEY_HASH('k')} FROM jsonb_array_elements(CAST(? AS jsonb)) AS k)`,
    [mappingId, group.reading.before, JSON.stringify(delivered.map((e) => e.sourceKey))],
  );
}

/** Longest text of the platform that a letter keeps. */
const LONGEST_REASON = 500;

/** Letters of one statement: what they are made of stands in memory some times over. */
const AT_ONCE = 2000;

export async function writeDeadLetters(trx: Knex, range: TakenRange, group: GroupOutcome): Promise<void> {
  let letters: DeadLetter[] = [];
  for (const letter of deadLettersOf(group)) {
    if (letters.push(letter) < AT_ONCE) continue;
    await writeSome(trx, range, group.reading.after, letters);
    letters = [];
  }
  await writeSome(trx, range, group.reading.after, letters);
}

async function writeSome(trx: Knex, range: TakenRange, stamp: string, some: readonly DeadLetter[]): Promise<void> {
  // A statement may touch a row once only; of two letters for one row the later counts.
  const letters = [...new Map(some.map((d) => [JSON.stringify(d.sourceKey), d])).values()];
  if (letters.length === 0) return;
  const column = (name: 'tenantId' | 'code') => letters.map((d) => d[name]);
  // What the ledger cannot keep may be just what is wrong with the row.
  const ids = letters.map(({ externalId: id }) => (id !== null && isKeepable(id) ? id : null));
  const words = (name: 'pointer' | 'rule' | 'reason' | 'shape') => letters.map((d) => storable(d[name]));
  // All keys of a mapping have as many values.
  const key = letters[0]!.sourceKey.map((_, i) => letters.map((d) => d.sourceKey[i] ?? null));
  const values = key.map((_, i) => `k${i}`);
  await prepared(
    trx,
    `write_dead_letters_${key.length}`,
    `INSERT INTO dead_letters AS d (mapping_id, tenant_id, source_key, key_hash, external_id, mapping_version, code, pointer,
       rule, reason, shape, missing, run_id, read_stamp)
     SELECT ?, tenant_id, source_key, ${KEY_HASH('to_jsonb(source_key)')}, external_id, ?, code, pointer, rule, reason, shape,
       CAST(missing AS jsonb), ?, ?
     FROM (SELECT *, CAST(ARRAY[${values.join(', ')}] AS text[]) AS source_key
       FROM unnest(?::int[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[]${', ?::text[]'.repeat(key.length)})
         AS u(${['tenant_id', 'external_id', 'code', 'pointer', 'rule', 'reason', 'shape', 'missing', ...values].join(', ')})) AS l
     ON CONFLICT (mapping_id, key_hash) DO UPDATE SET
       tenant_id = excluded.tenant_id, external_id = excluded.external_id, mapping_version = excluded.mapping_version,
       code = excluded.code, pointer = excluded.pointer, rule = excluded.rule, reason = excluded.reason,
       shape = excluded.shape, missing = excluded.missing, run_id = excluded.run_id, read_stamp = excluded.read_stamp,
       times = d.times + 1, last_seen = now()
     WHERE d.read_stamp <= excluded.read_stamp`,
    [
      ...[range.mappingId, range.mappingVersion, range.runId, stamp],
      ...[column('tenantId'), ids, column('code')],
      ...[words('pointer'), words('rule'), words('reason'), words('shape')],
      letters.map((d) => keepable(d.missing)),
      ...key,
    ] as Knex.RawBinding[],
  );
}

/** As JSON; null for none. Of a parent whose id cannot be kept there will never be a record. */
function keepable(missing: readonly ParentName[] = []): string | null {
  const kept = missing.filter(({ schemaName, externalId }) => isKeepable(schemaName) && isKeepable(externalId));
  return kept.length > 0 ? JSON.stringify(kept) : null;
}

/** A letter that cannot be stored would stop its group for ever: PostgreSQL refuses NUL and lone surrogates. */
const storable = (text: string): string => foreignText(text, LONGEST_REASON);
