/** Turns the messages of a reading into groups of changes, and stops before the first one that is not visible yet. */
import type { ChangeGroup } from '../../../domain/source/change-feed.js';
import { ChangedKeys } from './changed-keys.js';
import type { KeyColumn } from './key-columns.js';
import { malformed } from './message-bytes.js';
import { SlotMessageDecoder, type SlotMessage, type SlotTable } from './slot-messages.js';
import type { IsVisible } from './visible-transactions.js';
import { logPositionText } from './log-position.js';

/** The most keys of a group. */
const KEYS = 4096;

/** What a reading is to be turned into groups with. */
export interface GroupingInput {
  readonly messages: AsyncIterable<readonly Buffer[]>;
  readonly isVisible: IsVisible;
  /** Transactions whose commit record begins before this are known. */
  readonly after: bigint;
  /** The messages are all that there are up to here. */
  readonly through: bigint;
  readonly origin: string;
  /** The columns, or why there are none. */
  keyColumns(table: SlotTable): Promise<readonly KeyColumn[] | string>;
}

type Begin = Extract<SlotMessage, { kind: 'begin' }>;

/** The groups. The last one, which may be empty, has the position up to which the feed has been read. */
export async function* groupsOf(input: GroupingInput): AsyncGenerator<ChangeGroup> {
  const grouping = new Grouping(input);
  const decoder = new SlotMessageDecoder();
  for await (const messages of input.messages) {
    for (const message of messages) {
      const decoded = decoder.decode(message);
      if (grouping.isBlockedBy(decoded)) {
        if (grouping.hasNews) yield grouping.take();
        return;
      }
      await grouping.add(decoded);
      if (grouping.isFull) yield grouping.take();
    }
  }
  grouping.reachedEnd();
  if (grouping.hasNews) yield grouping.take();
}

class Grouping {
  readonly #input: GroupingInput;
  readonly #columns = new Map<SlotTable, readonly KeyColumn[] | string>();
  #keys = new ChangedKeys();
  #transaction: Begin | undefined;
  /** Whether keys of the transaction have been added, and its end is still to come. */
  #isInside = false;
  /** Up to where the collected keys are complete, and up to where those that were taken are. */
  #at: bigint;
  #taken: bigint;
  #committedAt: Date | null = null;

  constructor(input: GroupingInput) {
    this.#input = input;
    this.#at = this.#taken = input.after;
  }

  get isFull(): boolean {
    return this.#keys.size >= KEYS;
  }

  get hasNews(): boolean {
    return !this.#keys.isEmpty || this.#at > this.#taken;
  }

  /** Before 15 a transaction without changes is reported, too: it need not be visible. */
  isBlockedBy({ kind }: SlotMessage): boolean {
    if (kind !== 'change' && kind !== 'truncate') return false;
    return !this.#isKnown() && !this.#input.isVisible(this.#current().transaction);
  }

  async add(message: SlotMessage): Promise<void> {
    if (message.kind === 'begin') this.#transaction = message;
    if (this.#isKnown()) return;
    if (message.kind === 'commit') {
      this.#transaction = undefined;
      this.#isInside = false;
      this.#at = message.end;
    } else if (message.kind === 'change') {
      const columns = this.#columns.get(message.table) ?? (await this.#learn(message.table));
      this.#keys.add(message.table, columns, message.old, message.row);
      this.#changed();
    } else if (message.kind === 'truncate') {
      for (const table of message.tables) this.#keys.truncate(table);
      this.#changed();
    }
  }

  /** There is nothing more up to the end of the log. */
  reachedEnd(): void {
    if (this.#input.through > this.#at) this.#at = this.#input.through;
  }

  /** The keys that have been collected, which are forgotten here. */
  take(): ChangeGroup {
    const group: ChangeGroup = {
      ...this.#keys.collected(),
      position: this.#isInside ? null : { origin: this.#input.origin, at: logPositionText(this.#at) },
      committedAt: this.#committedAt,
    };
    if (!this.#isInside) this.#taken = this.#at;
    this.#keys = new ChangedKeys();
    this.#committedAt = null;
    return group;
  }

  #changed(): void {
    this.#isInside = true;
    this.#committedAt = this.#current().at;
  }

  #current(): Begin {
    if (this.#transaction === undefined) throw malformed('reports a change outside of a transaction');
    return this.#transaction;
  }

  #isKnown(): boolean {
    return this.#transaction !== undefined && this.#transaction.start < this.#input.after;
  }

  async #learn(table: SlotTable): Promise<readonly KeyColumn[] | string> {
    const columns = await this.#input.keyColumns(table);
    this.#columns.set(table, columns);
    return columns;
  }
}
