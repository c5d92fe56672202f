/** The main thread's side of a change feed that the reading thread reads. */
import type { ChangeFeed, ChangeGroup, FeedConfig, FeedPosition, FeedState } from '../../domain/source/change-feed.js';
import type { Call } from './remote-calls.js';
import type { ReadingThreadMethods } from './thread-protocol.js';

/** The reader in the thread whose source has the feed. */
export interface RemoteReader {
  readonly id: number;
  /** Resolves to the thread in which the reader is open. */
  opened(): Promise<{ readonly call: Call<ReadingThreadMethods> }>;
  /** A number for a new stream. */
  nextStream(): number;
}

/** The methods' contracts are those of {@link ChangeFeed}; a kind of feed that the database lacks is refused by the first call. */
export class RemoteFeed implements ChangeFeed {
  readonly #reader: RemoteReader;
  readonly #config: FeedConfig;

  constructor(reader: RemoteReader, config: FeedConfig) {
    this.#reader = reader;
    this.#config = config;
  }

  async state(): Promise<FeedState> {
    return (await this.#reader.opened()).call('feedState', this.#reader.id, this.#config);
  }

  async begin(): Promise<FeedPosition> {
    return (await this.#reader.opened()).call('beginFeed', this.#reader.id, this.#config);
  }

  async confirm(position: FeedPosition): Promise<void> {
    return (await this.#reader.opened()).call('confirmChanges', this.#reader.id, this.#config, position);
  }

  async *read(position: FeedPosition, signal: AbortSignal): AsyncGenerator<ChangeGroup> {
    signal.throwIfAborted();
    const { call } = await this.#reader.opened();
    const stream = this.#reader.nextStream();
    const close = (): Promise<void> => call('closeChanges', stream).catch(() => undefined);
    // What the thread waits for ends then, with an error.
    const aborted = (): void => void close();
    signal.addEventListener('abort', aborted, { once: true });
    try {
      await call('openChanges', stream, this.#reader.id, this.#config, position);
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
}
