/** The main thread's side of the reading thread: starts it, forwards calls to it and replaces it when it has died (ADR 0026). */
import { Worker } from 'node:worker_threads';
import { getOrInsert } from '../../domain/values/get-or-insert.js';
import { PartnerSyncError } from '../../domain/errors.js';
import { FailedRowList } from '../../records/failed-row-list.js';
import { RecordList } from '../../records/record-list.js';
import type { OnRetry } from '../../domain/monitoring/retries.js';
import type { Source } from '../../domain/source/source.js';
import type { SourceConfig } from '../../domain/sync/sync.js';
import type { PositionedChunk } from '../chunk.js';
import type { PreparedMapping } from '../prepared-mapping.js';
import type { OpenReader, Reader } from '../reader.js';
import { remoteFeed } from './remote-feed.js';
import { connect, type Connection } from './remote-calls.js';
import type { MainThreadMethods, PostedChunk, ReadingThreadMethods, SourceMethod } from './thread-protocol.js';

/** A running reading thread. */
export interface ReadingThread {
  /** Opens a source in the thread. Its methods reject with `source_unreachable` when the thread dies. */
  readonly openReader: OpenReader;
  /** Ends the thread; calls in progress reject with `source_unreachable`. */
  close(): Promise<void>;
}

/** An object, so that the compiler reports a method of Source that is missing here. */
const SOURCE_METHODS = Object.keys({
  describe: true,
  readPage: true,
  readByValues: true,
  highWatermark: true,
  hasNull: true,
  countByValue: true,
  cursorMinus: true,
  splitKeys: true,
  server: true,
  tables: true,
  tablesRead: true,
  connections: true,
} satisfies Record<SourceMethod, true>) as SourceMethod[];

/** Starts the thread, which loads its code at once. A thread that has died is replaced on the next call. */
export function startReadingThread(): ReadingThread {
  const readSeqs = new Map<number, () => Promise<string>>();
  const onRetries = new Map<number, OnRetry>();
  const mappingIds = new WeakMap<PreparedMapping, number>();
  let numbers = 0;
  let thread = start({
    nextReadSeq: (stream) => readSeqs.get(stream)!(),
    retried: (reader, ...failure) => onRetries.get(reader)?.(...failure),
  });
  const living = (): Thread => {
    if (thread.isLost()) thread = start(thread.methods);
    return thread;
  };

  function openReader(config: SourceConfig, onRetry?: OnRetry): Reader {
    const id = ++numbers;
    if (onRetry !== undefined) onRetries.set(id, onRetry);
    /** Where this reader is open, or being opened. After a crash it is opened again in the new thread. */
    let open: { readonly thread: Thread; readonly ready: Promise<unknown> } | undefined;
    const opened = async (): Promise<Thread> => {
      const thread = living();
      if (open?.thread !== thread) {
        const opening = { thread, ready: thread.call('open', id, config) };
        open = opening;
        // All calls that wait for it get its error, and the next one tries again.
        opening.ready.catch(() => {
          if (open === opening) open = undefined;
        });
      }
      await open.ready;
      return thread;
    };
    const method = (name: SourceMethod) => [
      name,
      async (...args: Parameters<Source[SourceMethod]>) => (await opened()).call('source', id, name, args),
    ];
    return {
      source: {
        ...(Object.fromEntries(SOURCE_METHODS.map(method)) as Pick<Source, SourceMethod>),
        changes: (feed) => remoteFeed({ id, opened, nextStream: () => ++numbers }, feed),
        async close() {
          const left = open?.thread;
          open = undefined;
          onRetries.delete(id);
          if (left?.isLost() === false) await left.call('close', id);
        },
      },
      chunks: async function* (mapping, partition, nextReadSeq): AsyncGenerator<PositionedChunk> {
        const mappingId = getOrInsert(mappingIds, mapping, () => ++numbers);
        const { spec, tenant } = mapping;
        const { byCursor, bounds } = partition;
        const { call } = await opened();
        const stream = ++numbers;
        readSeqs.set(stream, nextReadSeq);
        try {
          await call('openStream', stream, id, { id: mappingId, spec, tenant }, { byCursor, bounds });
          let chunk = await call('nextChunk', stream);
          while (chunk !== null) {
            yield receivedChunk(chunk);
            chunk = await call('nextChunk', stream);
          }
        } finally {
          // The thread may have died, or `openStream` may have failed; then there is nothing to close.
          await call('closeStream', stream).catch(() => undefined);
          readSeqs.delete(stream);
        }
      },
    };
  }
  return {
    openReader,
    async close() {
      await thread.end();
    },
  };
}

const receivedChunk = (chunk: PostedChunk): PositionedChunk => ({
  ...chunk,
  records: RecordList.received(chunk.records),
  failedRows: FailedRowList.received(chunk.failedRows),
});

/**
 * Two semi-spaces of 8 MiB, and as much again for large objects. Rows stay bytes until they are mapped, so little survives
 * a collection and a larger young generation would gain nothing.
 */
const YOUNG = { maxYoungGenerationSizeMb: 24 };

/** One worker thread; once lost, it stays lost. */
interface Thread extends Connection<ReadingThreadMethods> {
  /** Those of the main thread that it may call. */
  readonly methods: MainThreadMethods;
  isLost(): boolean;
  end(): Promise<unknown>;
}

function start(methods: MainThreadMethods): Thread {
  const worker = new Worker(new URL('./reading-thread.js', import.meta.url), { resourceLimits: YOUNG });
  const connection = connect<ReadingThreadMethods, MainThreadMethods>(worker, methods);
  let isLost = false;
  const lost = (): void => {
    isLost = true;
    connection.lost(new PartnerSyncError('source_unreachable', 'the thread that reads the source has ended'));
  };
  // `error` is followed by `exit`; without a listener for it, Node would end the whole process.
  worker.on('error', lost);
  worker.on('exit', lost);
  return { ...connection, methods, isLost: () => isLost, end: () => worker.terminate() };
}
