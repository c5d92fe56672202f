/** One file of a sync: read, parsed, filled in and held against the language; findings know their places. */
import type { Finding } from '../domain/finding.js';
import type { JsonValue } from '../domain/json.js';
import { withoutPasswords } from '../domain/without-passwords.js';
import { fillIn } from './environment.js';
import type { Environment } from './environment.js';
import { languageSchema } from './language-schema.js';
import type { LanguageFileKind } from './language-schema.js';
import { formatPath } from './place.js';
import type { Path, Place } from './place.js';
import { readSourceText } from './source-text.js';
import { withoutFaults } from './set-aside.js';
import type { PartialFile } from './set-aside.js';
import { violationsOf } from './violations.js';
import { parseYaml } from './yaml-document.js';
import type { ParsedDocument } from './yaml-document.js';

/** Long values would bury the message they are quoted in. */
const QUOTED = 60;

export class LanguageFile {
  readonly findings: Finding[] = [];
  /** The file's content once it is valid by the language's schema; undefined until then. */
  value: JsonValue | undefined;
  /** What of it can be checked although other parts are wrong; the same as `value` once it is valid. */
  partial: PartialFile | undefined;
  private document: ParsedDocument | undefined;
  private written: ReadonlyMap<string, string> = new Map();

  private constructor(readonly file: string) {}

  static async read(folder: string, file: string, kind: LanguageFileKind, env: Environment): Promise<LanguageFile> {
    const self = new LanguageFile(file);
    const source = await readSourceText(folder, file);
    if ('problem' in source) self.report(source.kind, [], source.problem);
    else self.understand(source.text, kind, env);
    return self;
  }

  report(
    kind: string,
    path: Path,
    message: string,
    at: 'key' | 'value' = 'value',
    severity: Finding['severity'] = 'error',
  ): void {
    const { line, column } = this.place(path, at);
    const where = { file: this.file, line, column, path: withoutPasswords(formatPath(path)) };
    this.findings.push({ severity, kind, ...where, message: withoutPasswords(message) });
  }

  place(path: Path, at: 'key' | 'value' = 'value'): Place {
    // A shorthand stands at its parent: `name: ${env:X}` is the text of fields.name.column.
    const written = this.written.get(JSON.stringify(path)) ?? this.written.get(JSON.stringify(path.slice(0, -1)));
    const place = this.document?.place(path, at) ?? { line: 0, column: 0 };
    return written === undefined ? place : { ...place, written };
  }

  /** Text from a library, made safe: whatever the environment filled in is taken out again. */
  withoutSecrets(message: string): string {
    return this.written.size > 0 ? 'a value with ${env:...} may not fit' : message;
  }

  private understand(text: string, kind: LanguageFileKind, env: Environment): void {
    this.document = parseYaml(text);
    for (const { kind: problem, message, line, column } of this.document.problems)
      this.findings.push({
        ...{ severity: 'error', kind: problem, file: this.file, line, column, path: '' },
        message: withoutPasswords(message),
      });
    if (this.document.value === undefined) return;
    if (this.file.endsWith('.json') && !isJson(text)) this.report('syntax', [], 'is not JSON, though its name says so');

    const filled = fillIn(this.document.value, env);
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

  /** A value for messages: what stands in the file, never what the environment put there. */
  readonly show = (path: Path, value: unknown): { text: string; secret: boolean } => {
    const written = this.written.get(JSON.stringify(path));
    const below = [...this.written.keys()].some((key) => key.startsWith(JSON.stringify(path).slice(0, -1)));
    if (written === undefined && below) return { text: 'a value with ${env:...} in it', secret: true };
    // What is no address is one with a slip in it at best: nobody can tell where in it the password is.
    if (
      written === undefined &&
      formatPath(path) === 'source.connection' &&
      typeof value === 'string' &&
      /[@=]/.test(value)
    )
      return { text: 'what stands here', secret: true };
    // Before it is cut: half an address hides its password worse.
    const text = withoutPasswords(JSON.stringify(written ?? value) ?? 'nothing');
    return { text: text.length > QUOTED ? `${text.slice(0, QUOTED)}...` : text, secret: written !== undefined };
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
