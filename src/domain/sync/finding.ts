/** What `check` reports: one place, what was found there, and what was expected. All findings are reported at once. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  /** Stable kind, as docs/mapping.md lists them: `unknown_key`, `wrong_type`, `column_missing` ... */
  readonly kind: string;
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
  return `${place} ${f.severity} ${f.kind} ${f.path === '' ? '' : `${f.path}: `}${f.message}`;
}
