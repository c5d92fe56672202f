/** Statements that are asked for with each group of rows: each session parses them once, and soon plans them once. */
import type { Knex } from 'knex';

/** As `knex.raw`. `name` stands for this text alone, in all of the ledger. */
export const prepared = <Row extends object>(
  knex: Knex,
  name: string,
  sql: string,
  bindings: Parameters<Knex['raw']>[1] & object,
): Knex.Raw<{ rows: Row[]; rowCount: number }> =>
  knex.raw<{ rows: Row[]; rowCount: number }>(sql, bindings as Knex.RawBinding[]).options({ name });
