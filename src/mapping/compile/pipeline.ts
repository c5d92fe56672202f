/**
 * Composes the steps from a column's value to a field's: the transforms in order, then the conversion to the field's
 * type.
 */
import type { TransformCall } from '../../domain/sync/sync.js';
import { textCopier, type ByteTable, type CopyValue } from '../encode/copy-value.js';
import { conversionOf, type LastStep, type Proven } from '../encode/conversion.js';
import { textForm, type Kind, type MappedValue, type Step } from '../encode/value-kind.js';
import { Rejection } from '../encode/rejection.js';
import type { Target } from '../definition/target.js';
import type { FieldProblem } from './field-writer.js';
import { loadedTransform } from '../transforms/custom/loaded-transforms.js';
import { TRANSFORMS } from '../transforms/registry.js';

/** The composed steps, or why they do not fit together. */
export type Pipeline =
  | {
      readonly run: (value: string) => MappedValue;
      /** The fast path of `run`, from bytes; null if there is none. */
      readonly copy: CopyValue | null;
      readonly proven: Proven;
    }
  /** `transform` is the index of the one that does not fit; null if the result does not fit the field. */
  | { readonly problem: string; readonly transform: number | null };

/**
 * Checks that each step takes what the one before gives, and composes them. `kind` is that of the column's values,
 * `target` what the schema definition asks of the field.
 */
export function pipelineOf(kind: Kind, transforms: readonly TransformCall[], target: Target): Pipeline {
  const steps: Step[] = [];
  const tables: (ByteTable | undefined)[] = [];
  let current = kind;
  for (const [index, call] of transforms.entries()) {
    const transform = call.code === undefined ? TRANSFORMS.get(call.name) : loadedTransform(call.code);
    if (transform === undefined) return { problem: `unknown transform "${call.name}"`, transform: index };
    const accepted = accept(current, transform.takes);
    if (accepted === undefined)
      return {
        problem: `${transform.name} does not take ${kindInWords(current)}; it takes ${transform.takes.join(', ')}`,
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
  const last = conversionOf(current, target);
  if ('problem' in last) return { problem: last.problem, transform: null };
  if (last.step !== null) steps.push(last.step);
  return { run: composed(steps), copy: copier(tables, last), proven: last.proven };
}

/** How a transform takes a value of this kind: in its text form if possible; undefined if it does not take it. */
function accept(kind: Kind, takes: readonly Kind[]): { kind: Kind; step: Step | null } | undefined {
  const text = textForm(kind);
  if (text !== undefined && takes.includes(text.kind)) return text;
  return takes.includes(kind) ? { kind, step: null } : undefined;
}

function kindInWords(kind: Kind): string {
  switch (kind) {
    case 'jsonNumber':
      return 'a value that is already a JSON number';
    case 'jsonBoolean':
      return 'a value that is already a JSON boolean';
    case 'list':
      return 'a value that is already a list';
    case 'hex':
      return 'bytes as hex digits';
    case 'timestamp':
      return 'a timestamp without a zone (put dateTime before it)';
    default:
      return kind;
  }
}

/**
 * The steps as one. Most pipelines have at most one step and need no loop. A null or a rejection skips the steps after
 * it.
 */
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

/** The fast path exists if the last step has one and is the only step, or if every step changes text byte by byte. */
function copier(steps: readonly (ByteTable | undefined)[], { copy }: LastStep): CopyValue | null {
  if (copy === null || typeof copy === 'function') return steps.length === 0 ? copy : null;
  const tables = [...steps, copy];
  if (tables.some((table) => table === undefined)) return null;
  const through = (byte: number): number => tables.reduce((changed, table) => table![changed]!, byte);
  return textCopier(Uint8Array.from({ length: 256 }, (_, byte) => through(byte)));
}

/**
 * A problem of a pipeline as one of its field: at the transform that does not fit, otherwise at the column or template,
 * as the subject of the sentence.
 */
export function pipelineProblem(
  found: { problem: string; transform: number | null },
  of: string,
  subject: string,
): FieldProblem {
  if (found.transform !== null) return { path: ['transforms', found.transform], message: found.problem };
  return { path: [of], message: `${subject} ${found.problem}` };
}
