/**
 * One file of a sync: read, parsed, with environment variables filled in, and validated. Each finding has its place.
 */
import type { Finding, FindingKind } from '../../domain/sync/finding.js';
import type { JsonValue } from '../../domain/values/json.js';
import type { ParsedFile } from '../../domain/sync/sync-files.js';
import { withoutPasswords } from '../../domain/values/without-passwords.js';
import { fillIn, type Environment } from './interpolation.js';
import { languageSchema, type LanguageFileKind } from './language-schema.js';
import { asObject } from '../definition/target.js';
import { isTooDeep } from './estimate-nesting.js';
import { jsonFault } from './json-fault.js';
import { secretsInFile } from './secrets-in-file.js';
import { formatPath, type Path, type Place } from './place.js';
import { readSyncFile } from './read-sync-file.js';
import { withoutFaults, type PartialFile } from './partial-file.js';
import { violationsOf } from './violations.js';
import { parseYaml, type ParsedDocument } from './yaml-document.js';

/** Characters of a value that messages quote: a long one would bury the message. */
const QUOTED = 60;

/**
 * A file and everything that is wrong with it. Reading continues after a mistake, as far as that makes sense, so that all
 * mistakes of a file are reported at once.
 */
export class LanguageFile {
  /** In the order in which they were found; `checkSyncFiles` sorts them by line. */
  readonly findings: Finding[] = [];
  /** The file's content if it is valid by the language's schema; otherwise undefined. */
  value: JsonValue | undefined;
  /** The content as it is written, before variables are filled in; undefined if it could not be parsed. */
  parsed: JsonValue | undefined;
  /** The parts of it that can be checked although others are wrong; all of it if it is valid. */
  partial: PartialFile | undefined;
  private document: ParsedDocument | undefined;
  /** The texts as written of values that the environment filled in, by path. */
  private written: ReadonlyMap<string, string> = new Map();

  private constructor(readonly file: string) {}

  /**
   * Reads `file` (relative to `folder`) and validates it as a file of this kind. Never throws for what the file
   * contains.
   */
  static async read(folder: string, file: string, kind: LanguageFileKind, env: Environment): Promise<LanguageFile> {
    const self = new LanguageFile(file);
    const source = await readSyncFile(folder, file);
    if ('problem' in source) self.report(source.kind, [], source.problem);
    else self.understand(source.text, kind, env);
    return self;
  }

  /** The same of a file that was parsed before, wherever it is kept. Its findings have no lines. */
  static of({ file, value }: ParsedFile, kind: LanguageFileKind, env: Environment): LanguageFile {
    const self = new LanguageFile(file);
    self.check(value, kind, env);
    return self;
  }

  /**
   * Adds a finding. `at`: whether it is about the key or its value. Passwords are removed, whoever made the message.
   */
  report(
    kind: FindingKind,
    path: Path,
    message: string,
    at: 'key' | 'value' = 'value',
    severity: Finding['severity'] = 'error',
  ): void {
    const { line, column } = this.place(path, at);
    const where = { file: this.file, line, column, path: withoutPasswords(formatPath(path)) };
    this.findings.push({ severity, kind, ...where, message: withoutPasswords(message) });
  }

  /** Where a path is in the file; where the nearest parent is if the path itself is not written. */
  place(path: Path, at: 'key' | 'value' = 'value'): Place {
    // A short form is written at its parent: `name: ${env:X}` is the text of fields.name.column.
    const written = this.written.get(JSON.stringify(path)) ?? this.written.get(JSON.stringify(path.slice(0, -1)));
    const place = this.document?.place(path, at) ?? { line: 0, column: 0 };
    return written === undefined ? place : { ...place, written };
  }

  /** Whether the file has this key at its top, right or wrong. */
  writes(key: string): boolean {
    return Object.hasOwn(asObject(this.document?.value) ?? {}, key);
  }

  /** A library's message, made safe: if anything was filled in, it may quote it. */
  withoutSecrets(message: string): string {
    return this.written.size > 0 ? 'a value with ${env:...} may not fit' : message;
  }

  private understand(text: string, kind: LanguageFileKind, env: Environment): void {
    // The document says so of a text that no parser may see.
    const isJson = this.file.endsWith('.json') && !isTooDeep(text);
    const fault = isJson ? jsonFault(text) : undefined;
    if (fault !== undefined) {
      this.findings.push({ severity: 'error', kind: 'syntax', file: this.file, path: '', ...fault });
      return;
    }
    this.document = parseYaml(text);
    for (const { kind: problem, message, line, column } of this.document.problems)
      this.findings.push({
        severity: 'error',
        kind: problem,
        file: this.file,
        line,
        column,
        path: '',
        message: withoutPasswords(message),
      });
    if (this.document.value === undefined) return;
    this.check(this.document.value, kind, env);
    for (const { path, what } of secretsInFile(this.document.value, kind === 'sync'))
      this.report(
        'secret_in_file',
        path,
        `contains ${what}, and files are committed and copied: put it into a variable, write ${'${env:NAME}'} here, and replace the secret if others have seen this file`,
        'value',
        'warning',
      );
  }

  /**
   * Fills in and validates. A variable that is not set is reported once, not again for what its placeholder breaks.
   */
  private check(parsed: JsonValue, kind: LanguageFileKind, env: Environment): void {
    this.parsed = parsed;
    const filled = fillIn(parsed, env);
    this.written = filled.written;
    for (const { path, kind: problem, message } of filled.problems) this.report(problem, path, message);
    const unset = new Set(filled.problems.map((problem) => formatPath(problem.path)));
    const violations = violationsOf(languageSchema(kind), filled.value, this.show);
    for (const { kind: violation, path, message, at } of violations)
      if (!unset.has(formatPath(path))) this.report(violation, path, message, at);
    const faults = [
      ...filled.problems.map((problem) => problem.path),
      ...violations.map((violation) => violation.path),
    ];
    this.partial = withoutFaults(filled.value, faults);
    if (this.findings.length === 0) this.value = filled.value;
  }

  /**
   * A value for messages: the text in the file, never what the environment filled in. `secret` tells that something
   * was.
   */
  readonly show = (path: Path, value: unknown): { text: string; secret: boolean } => {
    const written = this.written.get(JSON.stringify(path));
    const below = [...this.written.keys()].some((key) => key.startsWith(JSON.stringify(path).slice(0, -1)));
    if (written === undefined && below) return { text: 'a value with ${env:...} in it', secret: true };
    if (written === undefined && isAlertAddress(path)) return { text: 'this value', secret: true };
    // A text that is not an address is at best one with a mistake in it, and nobody can tell where in it the password is.
    if (
      written === undefined &&
      formatPath(path) === 'source.connection' &&
      typeof value === 'string' &&
      /[@=]/.test(value)
    )
      return { text: 'this value', secret: true };
    // Before it is cut: the password is harder to find in half an address.
    const text = withoutPasswords(JSON.stringify(written ?? value) ?? 'nothing');
    return { text: text.length > QUOTED ? `${text.slice(0, QUOTED)}...` : text, secret: written !== undefined };
  };
}

/** Whether a value is, or contains, an address of `alerts`: whoever knows it can write there. */
const isAlertAddress = ([key, , way]: Path): boolean => key === 'alerts' && way !== 'on' && way !== 'email';
