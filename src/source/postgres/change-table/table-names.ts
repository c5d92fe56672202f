/** What the parts of a change table are called in PostgreSQL. */
import type { FeedTable } from '../../../domain/source/change-feed.js';
import { tableMark } from '../../changes/recorded-source.js';
import type { TableConfig } from '../../changes/table-config.js';
import { quotedTable } from '../changes/quoted-names.js';
import { FUNCTION_SCHEMA } from '../changes/slot-functions.js';

/** The names of tables, ready for SQL. */
export const tableNames = ({ table }: TableConfig): { readonly changes: string; readonly state: string } => ({
  changes: quotedTable({ schema: FUNCTION_SCHEMA, name: table }),
  state: quotedTable({ schema: FUNCTION_SCHEMA, name: `${table}_state` }),
});

/** The name of the function that records changes of one table. */
export const functionName = ({ table }: TableConfig, of: FeedTable): string => `${table}_${tableMark(of)}`;

/** Which changes a trigger records. `row` records three kinds of them, row by row. */
export type TriggerKind = 'insert' | 'update' | 'delete' | 'truncate' | 'row';

/** The triggers of a table whose changes are recorded by the statement, and of one where that would miss some. */
export const triggerKinds = (byRow: boolean): readonly TriggerKind[] =>
  byRow ? ['row', 'truncate'] : ['insert', 'update', 'delete', 'truncate'];

/** The name of a trigger. */
export const triggerName = ({ table }: TableConfig, kind: TriggerKind): string => `${table}_${kind}`;
