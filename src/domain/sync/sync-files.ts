/** The files of a sync as they are written, so that a run can keep to them whatever happens on disk. */
import type { JsonValue } from '../values/json.js';

/** A file of a sync: parsed, with its `${env:NAME}` as they are written. */
export interface ParsedFile {
  /** Path relative to the mappings folder, for messages. */
  readonly file: string;
  readonly value: JsonValue;
}

/** A mapping or schema definition, with the name that its file has. */
export interface NamedFile extends ParsedFile {
  readonly name: string;
}

/** The file of a custom transform: identified, but without its code, which no worker takes from a database. */
export interface TransformFileVersion {
  readonly name: string;
  readonly file: string;
  readonly hash: string;
}

/** All files that a sync is loaded from; each list in order of name. JSON, and without a value of the environment. */
export interface SyncFiles {
  readonly sync: ParsedFile;
  readonly mappings: readonly NamedFile[];
  readonly definitions: readonly NamedFile[];
  /** Custom transforms; absent if there are none. */
  readonly transforms?: readonly TransformFileVersion[];
}

/** What the ledger keeps of the files of a run. */
export interface KeptFiles {
  /** The version that they had where the run began. */
  readonly version: string;
  readonly files: SyncFiles;
}
