/** What `check` reports. All findings are reported at once. */
import type { ErrorCode } from '../errors.js';
import type { FINDING_KINDS } from './finding-kinds.js';

/** A kind of the catalogue; for an error of the source, its code. */
export type FindingKind = keyof typeof FINDING_KINDS | ErrorCode;

/** One place, what was found there, and what was expected. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  readonly kind: FindingKind;
  /** Path relative to the mappings folder, e.g. `online-retail/customers.mapping.yaml`. */
  readonly file: string;
  /** 1-based; 0 if the file as a whole is meant. */
  readonly line: number;
  readonly column: number;
  /** Dotted path inside the file: `fields.email.transforms[0]`; empty for the whole. */
  readonly path: string;
  /** What was found, what is allowed and what to do. */
  readonly message: string;
}

/** The finding as one line: `customers.mapping.yaml:14:21 error unknown_key fields.emial: ...` */
export function formatFinding(f: Finding): string {
  const place = f.line > 0 ? `${f.file}:${f.line}:${f.column}` : f.file;
  const line = `${place} ${f.severity} ${f.kind} ${f.path === '' ? '' : `${f.path}: `}${f.message}`;
  // Names of files and texts in them may contain anything, and a terminal would obey it.
  return line.replace(/\p{Cc}/gu, ' ');
}
