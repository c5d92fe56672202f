/** One value's way: source kind, transforms in order, the field's type. Says at once whether it can work. */
import type { TransformCall } from '../domain/sync.js';
import { textCopier } from './byte-json.js';
import type { ByteTable, CopyValue } from './byte-json.js';
import { conversion } from './conversion.js';
import type { LastStep, Proven } from './conversion.js';
import { valueInJson } from './json-text.js';
import { textForm } from './kinds.js';
import type { Kind, MappedValue, Step } from './kinds.js';
import { Rejection } from './rejection.js';
import type { Target } from './target.js';
import { TRANSFORMS } from './transforms/registry.js';

export type Pipeline =
  | {
      readonly run: (value: string) => MappedValue;
      /** The JSON text of what `run` gives, on a shorter way: null for null, undefined where only `run` can tell. */
      readonly inJson: (value: string) => string | null | undefined;
      /** The same from bytes; null where there is no such way. */
      readonly inBytes: CopyValue | null;
      readonly proven: Proven;
    }
  /** `transform`: index of the one that does not fit; null where the field itself does not. */
  | { readonly problem: string; readonly transform: number | null };

/** Composes the steps, or says which one does not fit. `kind` is the column's; `target` the field's. */
export function pipelineOf(kind: Kind, transforms: readonly TransformCall[], target: Target): Pipeline {
  const steps: Step[] = [];
  const tables: (ByteTable | undefined)[] = [];
  let current = kind;
  for (const [index, call] of transforms.entries()) {
    const transform = TRANSFORMS.get(call.name);
    if (transform === undefined) return { problem: `unknown transform "${call.name}"`, transform: index };
    const accepted = accept(current, transform.takes);
    if (accepted === undefined)
      return {
        problem: `${call.name} does not take ${kindInWords(current)}; it takes ${transform.takes.join(', ')}`,
        transform: index,
      };
    if (accepted.step !== null) {
      steps.push(accepted.step);
      tables.push(undefined);
    }
    steps.push(transform.make(call.options));
    tables.push(transform.bytes);
    current = transform.gives === 'same' ? accepted.kind : transform.gives;
  }
  const last = conversion(current, target);
  if ('problem' in last) return { problem: last.problem, transform: null };
  const inJson = jsonText(steps, last);
  if (last.step !== null) steps.push(last.step);
  return { run: composed(steps), inJson, inBytes: copier(tables, last), proven: last.proven };
}

function accept(kind: Kind, takes: readonly Kind[]): { kind: Kind; step: Step | null } | undefined {
  const text = textForm(kind);
  if (text !== undefined && takes.includes(text.kind)) return text;
  return takes.includes(kind) ? { kind, step: null } : undefined;
}

function kindInWords(kind: Kind): string {
  switch (kind) {
    case 'jsonNumber':
      return 'a number that is finished';
    case 'jsonBoolean':
      return 'a boolean that is finished';
    case 'list':
      return 'a list that is finished';
    case 'hex':
      return 'bytes as hex digits';
    case 'timestamp':
      return 'a timestamp without a zone (put dateTime before it)';
    default:
      return kind;
  }
}

/** Short pipelines are the rule, so they get closures of their own; a null or a rejection ends any of them. */
function composed(steps: readonly Step[]): Step {
  const [first, second] = steps;
  if (first === undefined) return (value) => value;
  if (second === undefined) return first;
  return (value) => {
    let current: MappedValue = value;
    for (const step of steps) {
      current = step(current as string);
      if (current === null || current instanceof Rejection) return current;
    }
    return current;
  };
}

function jsonText(transforms: readonly Step[], { inJson }: LastStep): (value: string) => string | null | undefined {
  if (transforms.length === 0) return inJson;
  const transform = composed(transforms);
  return (value) => {
    const transformed = transform(value);
    if (typeof transformed === 'string') return inJson(transformed);
    // Numbers and booleans are finished: no last step takes them any further.
    return transformed === null ? null : valueInJson(transformed);
  };
}

/** Bytes are only copied: what a step looks for in a text stays with texts. */
function copier(steps: readonly (ByteTable | undefined)[], { inBytes }: LastStep): CopyValue | null {
  if (inBytes === null || typeof inBytes === 'function') return steps.length === 0 ? inBytes : null;
  const tables = [...steps, inBytes];
  if (tables.some((table) => table === undefined)) return null;
  const through = (byte: number): number => tables.reduce((changed, table) => table![changed]!, byte);
  return textCopier(Uint8Array.from({ length: 256 }, (_, byte) => through(byte)));
}
