/** Reads the external id of a row by itself, and tells whether it can be used. */
import { externalIdProblem, SURELY_SHORT } from '../../domain/records/external-id.js';
import type { ByteRow } from '../../domain/source/source.js';
import type { MappingSpec } from '../../domain/sync/sync.js';
import { RecordTexts } from '../../records/record-texts.js';
import type { ByteRange } from '../../records/records.js';
import { valueAt } from '../encode/written-value.js';
import type { FieldWriter } from './field-writer.js';
import { externalIdText } from './record-check.js';
import { idUnusable, type Failure } from './row-failure.js';

/** The external ids of one mapping's rows. */
export interface ExternalIdReader {
  /**
   * The external id of a row, and why it cannot be used if so; null if the row has none. A row that cannot be mapped
   * may have one too, since people search dead letters by it.
   */
  read(row: ByteRow): { readonly externalId: string | null; readonly problem: Failure | null };
  /**
   * A cheap test that most external ids pass; {@link externalIdProblem} decides about the others. `range` is the id in
   * the record that was written last.
   */
  isSurelyUsable(range: ByteRange, texts: RecordTexts): boolean;
}

const DOT = 0x2e;

/** `fields` contains the field of the external id. Not reentrant: the reader has a buffer of its own. */
export function externalIdReader(
  { schema: { externalIdField }, options: { longestExternalId } }: MappingSpec,
  fields: ReadonlyMap<string, FieldWriter>,
): ExternalIdReader {
  const write = fields.get(externalIdField)!.writer(null);
  const surelyShort = Math.min(SURELY_SHORT, longestExternalId);
  const written = new RecordTexts();
  return {
    read(row) {
      written.undo();
      const id = typeof write(row, written) === 'boolean' ? valueAt(0, written) : null;
      const externalId = externalIdText(id);
      const problem = externalId === null ? undefined : externalIdProblem(externalId, longestExternalId);
      return { externalId, problem: problem === undefined ? null : idUnusable(externalIdField, id, problem) };
    },
    // A text has at least as many bytes as characters, and the range is empty for an id with escapes. The ids `.` and
    // `..` are left to the full test.
    isSurelyUsable: ({ from, to }, { bytes, start }) =>
      to > from && to - from <= surelyShort && (to - from > 2 || bytes[start + from] !== DOT),
  };
}
