/** Entry point of the worker thread that reads sources and maps their rows. */
import { parentPort } from 'node:worker_threads';
import type { Page } from '../../domain/source.js';
import type { PositionedChunk } from '../chunk.js';
import { reusedRecords } from '../chunk-builder.js';
import { prepareMapping, type PreparedMapping } from '../prepared-mapping.js';
import { openReader, type Reader } from '../reader.js';
import { connect } from './remote-calls.js';
import type { OwnerAnswers, PostedMapping, ThreadAnswers } from './thread-protocol.js';

/**
 * How many mappings are kept compiled, the most recently used ones. A sync has some dozens; if its tenants are in a
 * table, each run has its own.
 */
const MAPPINGS_KEPT = 100;

const readers = new Map<number, Reader>();
const mappings = new Map<number, PreparedMapping>();
/** Readings in progress. `kept`: the ledger records what is sent, and so needs the content hashes. */
const readings = new Map<number, { readonly chunks: AsyncGenerator<PositionedChunk>; readonly kept: boolean }>();

/** After this many milliseconds without a request the owner is the bottleneck, so this thread takes over the hashing. */
const IDLE = 10;
/** How many chunks are being read, and since when none is. */
let asked = 0;
let idleSince = 0;
const hasTime = (): boolean => asked === 0 && performance.now() - idleSince > IDLE;

/** The rows of a page may be views of undecoded bytes, which cannot be posted; they are decoded here. */
const copyable = (answer: unknown): unknown =>
  typeof answer === 'object' && answer !== null && 'rows' in answer
    ? { ...answer, rows: [...(answer as Page).rows] }
    : answer;

/** The compiled mapping for this id. The map is in order of use, so its first entry is the least recently used. */
function compiled({ id, spec, tenant }: PostedMapping): PreparedMapping {
  const mapping = mappings.get(id) ?? prepareMapping(spec, tenant);
  mappings.delete(id);
  mappings.set(id, mapping);
  if (mappings.size > MAPPINGS_KEPT) mappings.delete(mappings.keys().next().value!);
  return mapping;
}

const { ask } = connect<OwnerAnswers, ThreadAnswers>(parentPort!, {
  open: (reader, config) => void readers.set(reader, openReader(config)),
  async source(reader, method, args) {
    const source = readers.get(reader)!.source as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    return copyable(await source[method]!(...args));
  },
  async close(reader) {
    const { source } = readers.get(reader)!;
    readers.delete(reader);
    await source.close();
  },
  begin(id, reader, mapping, partition) {
    const nextReadSeq = () => ask('nextReadSeq', id);
    // A chunk has been copied to the owner before the next one is requested, so all of them can use the same memory.
    const chunks = readers.get(reader)!.chunks(compiled(mapping), partition, nextReadSeq, reusedRecords());
    readings.set(id, { chunks, kept: mapping.spec.options.ledger === 'full' });
  },
  async next(id) {
    const { chunks, kept } = readings.get(id)!;
    // Hashing takes as long as mapping, so whichever thread is less busy does it.
    const hashed = kept && hasTime();
    asked++;
    try {
      const next = await chunks.next();
      if (next.done === true) return null;
      const { records, failedRows } = next.value;
      return { ...next.value, records: records.post(hashed), failedRows: failedRows.post() };
    } finally {
      asked--;
      idleSince = performance.now();
    }
  },
  async end(id) {
    const { chunks } = readings.get(id)!;
    readings.delete(id);
    await chunks.return(undefined);
  },
});
