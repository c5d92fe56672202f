/** Entry point of the worker thread that reads sources and maps their rows. */
import { parentPort } from 'node:worker_threads';
import type { ChangeFeed, ChangeGroup, FeedConfig } from '../../domain/source/change-feed.js';
import type { Page } from '../../domain/source/source.js';
import type { PositionedChunk } from '../chunk.js';
import { reusedRecords } from '../chunk-builder.js';
import { prepareMapping, type PreparedMapping } from '../prepared-mapping.js';
import { openReader, type Reader } from '../reader.js';
import { loadTransformsOf } from '../../mapping/transforms/custom/loaded-transforms.js';
import { connect } from './remote-calls.js';
import type { MainThreadMethods, PostedMapping, ReadingThreadMethods } from './thread-protocol.js';

/**
 * How many mappings are kept compiled, the most recently used ones. A sync has some dozens; if its tenants are in a
 * table, each run has its own.
 */
const MAPPINGS_KEPT = 100;

const readers = new Map<number, Reader>();
const mappings = new Map<number, PreparedMapping>();
/** Open streams. `kept`: the ledger records what is sent, and so needs the content hashes. */
const streams = new Map<number, { readonly chunks: AsyncGenerator<PositionedChunk>; readonly kept: boolean }>();
/** An open stream of changes. */
interface ChangeStream {
  readonly groups: AsyncGenerator<ChangeGroup>;
  readonly controller: AbortController;
  /** Whether the next ones are waited for. */
  isWaiting: boolean;
}

const changes = new Map<number, ChangeStream>();

/** After this many milliseconds without a request the main thread is the bottleneck, so this one takes over the hashing. */
const IDLE = 10;
/** How many chunks are being read, and since when none is. */
let chunksInProgress = 0;
let idleSince = 0;
const hasTime = (): boolean => chunksInProgress === 0 && performance.now() - idleSince > IDLE;

/** The rows of a page may be views of undecoded bytes, which cannot be posted; they are decoded here. */
const copyable = (result: unknown): unknown =>
  typeof result === 'object' && result !== null && 'rows' in result
    ? { ...result, rows: [...(result as Page).rows] }
    : result;

/** The compiled mapping for this id. The map is in order of use, so its first entry is the least recently used. */
function compiled({ id, spec, tenant }: PostedMapping): PreparedMapping {
  const mapping = mappings.get(id) ?? prepareMapping(spec, tenant);
  mappings.delete(id);
  mappings.set(id, mapping);
  if (mappings.size > MAPPINGS_KEPT) mappings.delete(mappings.keys().next().value!);
  return mapping;
}

const feedOf = (reader: number, config: FeedConfig): ChangeFeed => readers.get(reader)!.source.changes(config);

const { call } = connect<MainThreadMethods, ReadingThreadMethods>(parentPort!, {
  open: (reader, config) =>
    void readers.set(
      reader,
      openReader(config, (...failure) => void call('retried', reader, ...failure)),
    ),
  async source(reader, method, args) {
    const source = readers.get(reader)!.source as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    return copyable(await source[method]!(...args));
  },
  async close(reader) {
    const { source } = readers.get(reader)!;
    readers.delete(reader);
    await source.close();
  },
  async openStream(stream, reader, mapping, partition) {
    await loadTransformsOf(mapping.spec);
    const nextReadSeq = () => call('nextReadSeq', stream);
    // A chunk has been copied to the main thread before the next one is requested, so all of them can use the same memory.
    const chunks = readers.get(reader)!.chunks(compiled(mapping), partition, nextReadSeq, reusedRecords());
    streams.set(stream, { chunks, kept: mapping.spec.options.ledger === 'full' });
  },
  async nextChunk(stream) {
    const { chunks, kept } = streams.get(stream)!;
    // Hashing takes as long as mapping, so whichever thread is less busy does it.
    const hashed = kept && hasTime();
    chunksInProgress++;
    try {
      const next = await chunks.next();
      if (next.done === true) return null;
      const { records, failedRows } = next.value;
      return { ...next.value, records: records.post(hashed), failedRows: failedRows.post() };
    } finally {
      chunksInProgress--;
      idleSince = performance.now();
    }
  },
  async closeStream(stream) {
    const { chunks } = streams.get(stream)!;
    streams.delete(stream);
    await chunks.return(undefined);
  },
  feed: (reader, config, method, args) =>
    (feedOf(reader, config)[method] as (...args: readonly unknown[]) => Promise<unknown>)(...args),
  openChanges(stream, reader, config, position) {
    const controller = new AbortController();
    const groups = feedOf(reader, config).read(position, controller.signal);
    changes.set(stream, { groups, controller, isWaiting: false });
  },
  async nextChanges(stream) {
    const open = changes.get(stream)!;
    open.isWaiting = true;
    try {
      const next = await open.groups.next();
      return next.done === true ? null : next.value;
    } finally {
      open.isWaiting = false;
    }
  },
  async closeChanges(stream) {
    const open = changes.get(stream);
    changes.delete(stream);
    if (open?.isWaiting === true) open.controller.abort();
    await open?.groups.return(undefined);
  },
});
