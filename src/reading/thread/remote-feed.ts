/** The main thread's side of a change feed that the reading thread reads. */
import type { ChangeFeed, ChangeGroup, FeedConfig, FeedPosition } from '../../domain/source/change-feed.js';
import type { Call } from './remote-calls.js';
import type { FeedMethod, ReadingThreadMethods } from './thread-protocol.js';

/** The reader in the thread whose source has the feed. */
export interface RemoteReader {
  readonly id: number;
  /** Resolves to the thread in which the reader is open. */
  opened(): Promise<{ readonly call: Call<ReadingThreadMethods> }>;
  /** A number for a new stream. */
  nextStream(): number;
}

/** The methods of a feed but `read`; the type makes sure that none is left out. */
const METHODS = Object.keys({
  state: true,
  begin: true,
  mayHaveChanges: true,
  countUnread: true,
  confirm: true,
  installation: true,
  removal: true,
} satisfies Record<FeedMethod, true>) as FeedMethod[];

/**
 * The methods' contracts are those of {@link ChangeFeed}; a kind of feed that the database lacks is refused by the first
 * call.
 */
export function remoteFeed(reader: RemoteReader, config: FeedConfig): ChangeFeed {
  const method = (name: FeedMethod) => [
    name,
    async (...args: Parameters<ChangeFeed[FeedMethod]>) =>
      (await reader.opened()).call('feed', reader.id, config, name, args),
  ];
  return {
    ...(Object.fromEntries(METHODS.map(method)) as Pick<ChangeFeed, FeedMethod>),
    read: (position, signal) => readRemotely(reader, config, position, signal),
  };
}

async function* readRemotely(
  reader: RemoteReader,
  config: FeedConfig,
  position: FeedPosition,
  signal: AbortSignal,
): AsyncGenerator<ChangeGroup> {
  signal.throwIfAborted();
  const { call } = await reader.opened();
  const stream = reader.nextStream();
  const close = (): Promise<void> => call('closeChanges', stream).catch(() => undefined);
  // What the thread waits for ends then, with an error.
  const aborted = (): void => void close();
  signal.addEventListener('abort', aborted, { once: true });
  try {
    await call('openChanges', stream, reader.id, config, position);
    let group = await call('nextChanges', stream);
    while (group !== null) {
      signal.throwIfAborted();
      yield group;
      group = await call('nextChanges', stream);
    }
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', aborted);
    await close();
  }
}
