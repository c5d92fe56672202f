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
  readonly category: SchemaDefinitionFile['category'];
  readonly key: readonly string[];
  readonly cursor: string | null;
  /** Why this cursor, or why none. */
  readonly cursorComments: readonly string[];
  readonly externalIdField: string;
  readonly fields: readonly DraftField[];
  /** Columns that no field takes, and why. */
  readonly leftOut: readonly string[];
}

/** Begins every line that asks for a decision: people search for it. */
export const DECIDE = 'DECIDE:';
