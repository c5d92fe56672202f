/** The partitions of a first pass: those that the run has planned for the mapping, once more. */
import { expect, it } from 'vitest';
import { ledgerForTests } from './ledger-for-tests.js';
import { newRun } from './new-partition.js';

const the = ledgerForTests();

it('has the bounds of each partition that its run has planned for its mapping, and does not move the position', async () => {
  const { partitions } = the.ledger;
  const [run, another] = [await newRun(the.ledger), await newRun(the.ledger)];
  const bounds = (from: string, after: string) => ({
    ...{ cursorFrom: from, cursorBefore: '9', afterKey: [after], throughKey: null, externalIds: null },
    ...{ byCursor: true, movesPosition: true },
  });
  const other = the.mappingId;
  await partitions.plan(run, other, [bounds('1', 'of another mapping')]);
  await the.newMapping();
  await partitions.plan(another, the.mappingId, [bounds('2', 'of another run')]);
  await partitions.plan(run, the.mappingId, [bounds('3', 'a'), bounds('4', 'b')]);
  await partitions.forSmallTenants(run, the.mappingId);

  await partitions.planFirstPass(run, the.mappingId);
  await partitions.planFirstPass(run, the.mappingId);

  const written = await the.database.query(
    `SELECT run_id AS run, mapping_id AS mapping, cursor_from AS "from", after_key[1] AS after, moves_position AS moves
     FROM partner_sync.partitions WHERE kind = 'first_pass' ORDER BY cursor_from`,
  );
  const of = { run, mapping: the.mappingId, moves: false };
  expect(written).toEqual([
    { ...of, from: '3', after: 'a' },
    { ...of, from: '4', after: 'b' },
  ]);
  expect(await partitions.planned(run, the.mappingId, true)).toHaveLength(2);
});
