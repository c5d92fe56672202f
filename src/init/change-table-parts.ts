/**
 * Recognizes the tables that `changes install` has made in MySQL, MariaDB and SQLite: their rows are nobody's records. In PostgreSQL,
 * they are in a schema that the catalogue leaves out.
 */
import type { SourceTable } from '../domain/source/source-catalog.js';

const STATE = '_state';

/** Whether it is a change table, or the table of one row beside it. */
export const isOfChangeTable = (table: SourceTable, all: readonly SourceTable[]): boolean =>
  isState(table) || all.some((each) => isState(each) && isBeside(each, table));

const isState = (table: SourceTable): boolean => table.name.endsWith(STATE) && has(table, ['origin', 'pruned']);

const isBeside = (state: SourceTable, table: SourceTable): boolean =>
  table.schema === state.schema && `${table.name}${STATE}` === state.name && has(table, ['seq', 'source']);

const has = ({ columns }: SourceTable, names: readonly string[]): boolean =>
  names.every((name) => columns.some((column) => column.name === name));
