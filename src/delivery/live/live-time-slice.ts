/** The time for which one activity follows change feeds, and what ends it early. */
import { setTimeout as sleep } from 'node:timers/promises';
import { milliseconds, type DurationName } from '../../domain/timeouts.js';

/** How often a pause is interrupted to see whether the worker is draining. */
const DRAINING_SEEN_EVERY = 500;

/** What several loops share: they all end when it is over, each after the work that it has begun. */
export class LiveTimeSlice {
  readonly #signal: AbortSignal;
  readonly #isDraining: () => boolean;
  readonly #deadline: number;
  #ended = false;
  #sleeping = new AbortController();

  /** @param signal aborts when the activity is cancelled, or has lost its worker */
  constructor(length: DurationName, signal: AbortSignal, isDraining: () => boolean) {
    this.#deadline = performance.now() + milliseconds(length);
    this.#signal = signal;
    this.#isDraining = isDraining;
  }

  get isOver(): boolean {
    return this.#ended || this.#signal.aborted || performance.now() > this.#deadline || this.#isDraining();
  }

  /** Ends the slice for all. */
  end(): void {
    this.#ended = true;
    this.endPauses();
  }

  /** Ends all pauses that can be ended early. */
  endPauses(): void {
    this.#sleeping.abort();
    this.#sleeping = new AbortController();
  }

  /** Resolves after so many milliseconds, when the slice is over, or, if `isWoken`, with the next {@link endPauses}. */
  async pause(time: number, isWoken = false): Promise<void> {
    const until = performance.now() + time;
    const woken = this.#sleeping.signal;
    while (!this.isOver && !(isWoken && woken.aborted)) {
      const left = until - performance.now();
      if (left <= 0) return;
      const signals = AbortSignal.any([this.#signal, this.#sleeping.signal]);
      await sleep(Math.min(left, DRAINING_SEEN_EVERY), undefined, { signal: signals }).catch(() => undefined);
    }
  }

  /** Does the work; when that ends, or fails, so does the slice. */
  async during(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } finally {
      this.end();
    }
  }
}
