/**
 * The kernel of the simulation: virtual time, and the processes that live in it. Everything that takes time is an event.
 * Events run one after the other, in the order of their times; between two of them every promise that can settle does.
 */
import { REAL } from './real.js';
import { Slot } from './slot.js';

/** An event that can still be called off. */
export interface Scheduled {
  cancelled: boolean;
}

interface Event extends Scheduled {
  /** Virtual milliseconds since 1970. */
  at: number;
  readonly no: number;
  readonly process: SimulatedProcess | null;
  readonly run: () => void;
}

/** A process: what it has scheduled dies with it, and waits while it is frozen. */
export class SimulatedProcess {
  alive = true;
  /** Virtual milliseconds since 1970; in the past unless the process is frozen. */
  frozenUntil = 0;
  readonly #onKill: (() => void)[] = [];

  constructor(readonly name: string) {}

  /** Calls `told` when the process is killed: what it was connected with notices. */
  whenKilled(told: () => void): void {
    this.#onKill.push(told);
  }

  /** Nothing of it runs from now on, not even a `finally`. */
  kill(): void {
    if (!this.alive) return;
    this.alive = false;
    for (const told of this.#onKill) told();
  }
}

/** Throws if the simulation can never end: nothing is scheduled any more. */
export class NothingScheduled extends Error {}

export class Kernel {
  /** Virtual milliseconds since 1970. */
  now: number;
  /** How many events have run. */
  events = 0;
  readonly #place = new Slot<SimulatedProcess | null>();
  readonly #heap: Event[] = [];
  #numbers = 0;
  #realWork = 0;
  readonly #settlers: (() => boolean)[] = [];

  constructor(start: number) {
    this.now = start;
  }

  /** The process whose code is running; null for the network, servers and the simulation itself. */
  get process(): SimulatedProcess | null {
    return this.#place.getStore() ?? null;
  }

  /** Runs `work` as code of the process. */
  within<T>(process: SimulatedProcess | null, work: () => T): T {
    return this.#place.run(process, work);
  }

  /** Calls `run` after so many virtual milliseconds, as code of `process`: by default the one that is running. */
  after(milliseconds: number, run: () => void, process: SimulatedProcess | null = this.process): Scheduled {
    const delay = Number.isFinite(milliseconds) && milliseconds > 0 ? milliseconds : 0;
    const event: Event = { at: this.now + delay, no: this.#numbers++, process, run, cancelled: false };
    this.#push(event);
    return event;
  }

  /** Resolves after so many virtual milliseconds. */
  sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => void this.after(milliseconds, resolve));
  }

  /** Work outside the simulation, such as a statement or a file: virtual time stands still until it is done. */
  async real<T>(work: () => Promise<T>): Promise<T> {
    this.#realWork++;
    try {
      return await work();
    } finally {
      this.#realWork--;
    }
  }

  /** `settle` is called after each event, and says whether it has set anything going. */
  afterEachEvent(settle: () => boolean): void {
    this.#settlers.push(settle);
  }

  /** Runs events until `isOver`. Throws {@link NothingScheduled}. */
  async run(isOver: () => boolean): Promise<void> {
    await this.#settle();
    while (!isOver()) {
      const event = this.#pop();
      if (event === undefined) throw new NothingScheduled('nothing is scheduled, and the simulation is not over');
      if (event.cancelled || event.process?.alive === false) continue;
      if (event.process !== null && event.process.frozenUntil > event.at) {
        event.at = event.process.frozenUntil;
        this.#push(event);
        continue;
      }
      this.now = event.at;
      this.events++;
      this.#place.run(event.process, event.run);
      await this.#settle();
    }
  }

  async #settle(): Promise<void> {
    do {
      do await REAL.immediate();
      while (this.#realWork > 0);
    } while (this.#settlers.map((settle) => settle()).includes(true));
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.push(event) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = event;
  }

  #pop(): Event | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    while (true) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

const isBefore = (a: Event, b: Event): boolean => a.at < b.at || (a.at === b.at && a.no < b.no);
