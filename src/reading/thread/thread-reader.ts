/** A thread that reads sources and maps their rows, as seen by its owner. */
import { Worker } from 'node:worker_threads';
import { PartnerSyncError } from '../../domain/errors.js';
import { LetterList } from '../../domain/letter-list.js';
import { RecordList } from '../../domain/record-list.js';
import type { Source } from '../../domain/source.js';
import type { SourceConfig } from '../../domain/sync.js';
import type { Group } from '../group.js';
import type { MappedReading } from '../mapped-reading.js';
import type { OpenReader, Reader } from '../reader.js';
import { connect, type Calls } from './calls.js';
import type { OwnerAnswers, SourceMethod, ThreadAnswers } from './messages.js';

export interface ReadingThread {
  readonly openReader: OpenReader;
  /** What is under way in it fails with `source_unreachable`. */
  close(): Promise<void>;
}

const SOURCE_METHODS = Object.keys({
  describe: true,
  readPage: true,
  readByValues: true,
  fence: true,
  hasNull: true,
  cursorMinus: true,
  splitKeys: true,
  server: true,
  tables: true,
} satisfies Record<SourceMethod, true>) as SourceMethod[];

/** The thread begins to load at once; one that has died is replaced when it is next needed. */
export function startReadingThread(): ReadingThread {
  const stamps = new Map<number, () => Promise<string>>();
  const mappingIds = new WeakMap<MappedReading, number>();
  let numbers = 0;
  let thread = start({ stamp: (groups) => stamps.get(groups)!() });
  const living = (): Thread => (thread.isLost() ? (thread = start(thread.answers)) : thread);

  function openReader(config: SourceConfig): Reader {
    const id = ++numbers;
    let openIn: Thread | undefined;
    const opened = async (): Promise<Thread> => {
      const here = living();
      if (openIn === here) return here;
      openIn = here;
      // Whoever asks meanwhile is answered behind this.
      await here.ask('open', id, config).catch((error: unknown) => {
        openIn = undefined;
        throw error;
      });
      return here;
    };
    const method = (name: SourceMethod) => [
      name,
      async (...args: Parameters<Source[SourceMethod]>) => (await opened()).ask('source', id, name, args),
    ];
    return {
      source: {
        ...(Object.fromEntries(SOURCE_METHODS.map(method)) as Omit<Source, 'close'>),
        async close() {
          const left = openIn;
          openIn = undefined;
          if (left?.isLost() === false) await left.ask('close', id);
        },
      },
      groups: async function* (reading, range, stamp): AsyncGenerator<Group> {
        let mapping = mappingIds.get(reading);
        if (mapping === undefined) mappingIds.set(reading, (mapping = ++numbers));
        const { spec, tenant } = reading;
        const { byCursor, bounds } = range;
        const { ask } = await opened();
        const groups = ++numbers;
        stamps.set(groups, stamp);
        try {
          await ask('begin', groups, id, { id: mapping, spec, tenant }, { byCursor, bounds });
          for (;;) {
            const group = await ask('next', groups);
            if (group === null) return;
            const { records, letters } = group;
            yield { ...group, records: RecordList.received(records), letters: LetterList.received(letters) };
          }
        } finally {
          // It may be lost, or have refused to begin.
          await ask('end', groups).catch(() => undefined);
          stamps.delete(groups);
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

/** Twice a half of 8 MiB, and as much for large objects: rows are bytes until they are mapped, so little survives. */
const YOUNG = { maxYoungGenerationSizeMb: 24 };

interface Thread extends Calls<ThreadAnswers> {
  readonly answers: OwnerAnswers;
  isLost(): boolean;
  end(): Promise<unknown>;
}

function start(answers: OwnerAnswers): Thread {
  const worker = new Worker(new URL('./reading-thread.js', import.meta.url), { resourceLimits: YOUNG });
  const calls = connect<ThreadAnswers, OwnerAnswers>(worker, answers);
  let isLost = false;
  const lost = (): void => {
    isLost = true;
    calls.lost(new PartnerSyncError('source_unreachable', 'the thread that reads the source has ended'));
  };
  // An error is followed by the end; without a listener it would end the process.
  worker.on('error', lost);
  worker.on('exit', lost);
  return { ...calls, answers, isLost: () => isLost, end: () => worker.terminate() };
}
