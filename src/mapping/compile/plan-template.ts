/** Plans fields that join texts and columns by a template. */
import type { ByteRow } from '../../domain/source/source.js';
import type { TransformCall } from '../../domain/sync/sync.js';
import { Rejection } from '../encode/rejection.js';
import { textForm, type Kind, type Step } from '../encode/value-kind.js';
import type { Target } from '../definition/target.js';
import { parseTemplate, type TemplatePart } from '../language/template.js';
import {
  writeMapped,
  type FieldPlan,
  type FieldProblem,
  type PlacedColumn,
  type Rule,
  type WriteField,
} from './field-writer.js';
import { pipelineOf, pipelineProblem } from './pipeline.js';

/** A piece of a template as it is joined: a text, or a column and the step that gives its text. */
type Piece = string | { readonly index: number; readonly step: Step | null };

/** Joins texts and columns, then applies the transforms to the whole. */
export function planTemplate(
  template: string,
  transforms: readonly TransformCall[],
  target: Target,
  columnNamed: (name: string) => PlacedColumn,
): FieldPlan {
  const parsed = parseTemplate(template);
  if ('problem' in parsed) return { problems: [{ path: ['template'], message: parsed.problem }] };
  const planned = parsed.parts.map((part) => pieceOf(part, columnNamed));
  const pipeline = pipelineOf('text' satisfies Kind, transforms, target);
  const problems = planned.flatMap((piece) => (isProblem(piece) ? [piece] : []));
  if ('problem' in pipeline) problems.push(pipelineProblem(pipeline, 'template', 'the template'));
  if (problems.length > 0 || 'problem' in pipeline) return { problems };
  const { run, proven } = pipeline;
  const join = joiner(planned as Piece[]);
  const writer =
    (rule: Rule): WriteField =>
    (row, json) => {
      const text = join(row);
      return typeof text === 'string' ? writeMapped(run(text), rule, json) : text;
    };
  return { writer, proven, copied: [] };
}

const isProblem = (piece: Piece | FieldProblem): piece is FieldProblem =>
  typeof piece !== 'string' && 'message' in piece;

function pieceOf(part: TemplatePart, columnNamed: (name: string) => PlacedColumn): Piece | FieldProblem {
  if (part.kind === 'text') return part.text;
  const { index, column } = columnNamed(part.column);
  const text = textForm(column.type);
  if (text !== undefined) return { index, step: text.step };
  const message = `${column.databaseType} has no text form; turn it into text in the query`;
  return { path: ['template'], message };
}

/**
 * Joins the pieces for a row. One NULL makes the whole NULL, as with || in SQL: an incomplete id is worse than none.
 */
const joiner =
  (pieces: readonly Piece[]) =>
  (row: ByteRow): string | null | Rejection => {
    let text = '';
    for (const piece of pieces) {
      if (typeof piece === 'string') {
        text += piece;
        continue;
      }
      const value = row.text(piece.index);
      if (value === null) return null;
      const stepped = piece.step === null ? value : piece.step(value);
      if (stepped instanceof Rejection) return stepped;
      text += stepped as string;
    }
    return text;
  };
