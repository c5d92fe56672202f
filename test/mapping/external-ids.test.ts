/** External ids that no record can have are reported for each row, whichever way they are mapped. */
import { describe, expect, it } from 'vitest';
import { externalIdProblem, isStorableId, LONGEST_EXTERNAL_ID } from '../../src/domain/records/external-id.js';
import { idHex } from '../../src/ledger/record-key.js';
import { mapper } from './sync-on-disk.js';

const reasonOf = (id: string, longest = LONGEST_EXTERNAL_ID): string | undefined =>
  externalIdProblem(id, longest)?.reason;

describe('an external id', () => {
  it.each(['a', '...', '.a', '%2e', '%2E%2E', 'a/..', '/', '\\', '?', '#', ' ', '\u0001', '0', 'é'.repeat(1_300)])(
    'may be %j',
    (id) => expect(reasonOf(id)).toBeUndefined(),
  );

  it.each([
    ['.', 'is "." or ".."'],
    ['..', 'is "." or ".."'],
    ['a\u0000b', 'U+0000'],
    ['a'.repeat(1_301), 'longer than 1300 characters'],
    ['語'.repeat(867), 'longer than 2600 bytes'],
  ])('cannot be %j', (id, reason) => expect(reasonOf(id)).toContain(reason));

  it("is not longer than the platform's limit, if that is set", () => {
    expect([reasonOf('12345', 5), reasonOf('123456', 5)]).toEqual([
      undefined,
      expect.stringContaining('longer than 5 '),
    ]);
  });

  it('fits into the indexes of the ledger, in each form that is stored there', () => {
    // 2,704 bytes, of which the other columns and the entry itself take up to 40.
    for (const one of ['a', 'é', '語', '\u{1f600}']) {
      let id = one;
      while (reasonOf(id + one) === undefined) id += one;
      expect(Math.max(Buffer.byteLength(id), idHex(id).length / 2)).toBeLessThanOrEqual(2_664);
      expect([isStorableId(id), isStorableId(`${id}${one}${one}`)]).toEqual([true, false]);
    }
  });
});

it('makes its row a dead letter if no record can have it, even if the row is deleted or its tenant unknown', async () => {
  const { map } = await mapper('  a: a\n', { a: { type: 'string' } }, { a: 'text' });
  for (const id of ['.', '..', 'x'.repeat(2_000)])
    expect(map({ id, a: 'A' })).toMatchObject({
      kind: 'failed',
      code: 'external_id_unusable',
      pointer: '/id',
      externalId: id,
      tenant: 'tenant-a',
    });
  expect(map({ id: '...', a: 'A' })).toMatchObject({ kind: 'record', externalId: '...' });
  expect(map({ id: 'a\ud83d', a: 'A' })).toMatchObject({ code: 'value_not_encodable' });
});
