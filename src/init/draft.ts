/** The types of a drafted sync: what its files will contain, and what a person must decide. */
import type { JsonObject } from '../domain/values/json.js';
import type { SourceTable } from '../domain/source/source-catalog.js';
import type { SchemaDefinitionFile } from '../domain/sync/sync.js';

/** A field of a mapping, with its property in the schema definition. */
export interface DraftField {
  readonly name: string;
  /** The property of the schema definition. */
  readonly property: JsonObject;
  readonly required: boolean;
  /** The field's value in the mapping file, as one line of YAML. */
  readonly written: string;
  /** Comments to write above it in the mapping file. */
  readonly comments: readonly string[];
}

/** A mapping with its schema definition. */
export interface DraftMapping {
  readonly name: string;
  readonly table: SourceTable;
  readonly schemaName: string;
  readonly pluralName: string;
  /** Why the schema definition has another name than the table; null if it has the table's. */
  readonly schemaComment: string | null;
  readonly category: SchemaDefinitionFile['category'];
  readonly key: readonly string[];
  readonly cursor: DraftCursor | null;
  /** Why this column was chosen as the cursor, or why none was. */
  readonly cursorComments: readonly string[];
  /** The column that marks rows as deleted, and the values that do so if it is no date, time or boolean; null without one. */
  readonly deletes: { readonly column: string; readonly values: readonly string[] | null } | null;
  readonly externalIdField: string;
  readonly fields: readonly DraftField[];
  /** Columns without a field, each with the reason. */
  readonly leftOut: readonly string[];
}

/** The column by which incremental runs find changed rows. */
export interface DraftCursor {
  readonly column: string;
  /** The time zone of a column that stores none; null if the database knows it. */
  readonly zone: string | null;
}

/** The time zone assumed for columns that store none. */
export interface ZoneGuess {
  readonly name: string;
  /** The reason for it, as the end of a sentence: `is the server's, and a guess`. */
  readonly why: string;
}

/** Begins every comment that asks for a decision, so that people can search for it. */
export const DECIDE = 'DECIDE:';
