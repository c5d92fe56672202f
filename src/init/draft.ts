/** A sync as drafted from a database: what the files will say, and what a person must decide. */
import type { JsonObject } from '../domain/json.js';
import type { SourceTable } from '../domain/source-catalog.js';
import type { SchemaDefinitionFile } from '../domain/sync.js';

export interface DraftField {
  readonly name: string;
  /** The property of the schema definition. */
  readonly property: JsonObject;
  readonly required: boolean;
  /** The field as the mapping file says it, in YAML on one line. */
  readonly written: string;
  /** Lines above it in the mapping file. */
  readonly comments: readonly string[];
}

export interface DraftMapping {
  readonly name: string;
  readonly table: SourceTable;
  readonly schemaName: string;
  readonly pluralName: string;
  /** Why the schema definition is not called after the table alone; null where it is. */
  readonly schemaComment: string | null;
  readonly category: SchemaDefinitionFile['category'];
  readonly key: readonly string[];
  readonly cursor: DraftCursor | null;
  /** Why this cursor, or why none. */
  readonly cursorComments: readonly string[];
  readonly externalIdField: string;
  readonly fields: readonly DraftField[];
  /** Columns that no field takes, and why. */
  readonly leftOut: readonly string[];
}

export interface DraftCursor {
  readonly column: string;
  /** Of a column without one; null where the database knows it. */
  readonly zone: string | null;
}

/** The zone that columns without one are taken to be in. */
export interface ZoneGuess {
  readonly name: string;
  /** Why this one, as the end of a sentence: `is the server's, and a guess`. */
  readonly why: string;
}

/** Begins every line that asks for a decision: people search for it. */
export const DECIDE = 'DECIDE:';
