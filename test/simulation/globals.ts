/** Replaces the clock, the timers and the random numbers of this program by those of the simulation that is running. */
import { currentIfAny } from './simulation.js';
import type { Scheduled } from './kernel.js';

/** When every simulation begins, and what the clock says outside one: 2030-01-01. */
export const START = 1_893_456_000_000;

const now = (): number => currentIfAny()?.kernel.now ?? START;
/** Whole milliseconds, as `Date.now` has them. */
const date = (): number => Math.floor(now());

/** As much of Node's timers as this program and its libraries use. */
class VirtualTimer {
  #scheduled: Scheduled | undefined;

  constructor(
    readonly milliseconds: number,
    readonly repeats: boolean,
    readonly callback: () => void,
  ) {
    this.#schedule();
  }

  #schedule(): void {
    this.#scheduled = currentIfAny()?.kernel.after(Math.max(1, this.milliseconds), () => {
      if (this.repeats) this.#schedule();
      this.callback();
    });
  }

  close(): void {
    if (this.#scheduled !== undefined) this.#scheduled.cancelled = true;
  }
  refresh(): this {
    this.close();
    this.#schedule();
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return true;
  }
}

export function installGlobals(): void {
  const RealDate = Date;
  const start =
    (repeats: boolean) =>
    (callback: (...args: unknown[]) => void, milliseconds = 1, ...args: unknown[]) =>
      new VirtualTimer(milliseconds, repeats, () => callback(...args));
  const clear = (timer: unknown): void => {
    if (timer instanceof VirtualTimer) timer.close();
  };
  class VirtualDate extends RealDate {
    constructor(...args: unknown[]) {
      super(...((args.length === 0 ? [date()] : args) as [number]));
    }
    static override now = date;
  }
  Object.assign(globalThis, {
    Date: VirtualDate,
    setTimeout: start(false),
    setInterval: start(true),
    clearTimeout: clear,
    clearInterval: clear,
  });
  performance.now = () => now() - START;
  Math.random = () => currentIfAny()?.random.next() ?? 0.5;
  AbortSignal.timeout = (milliseconds) => {
    const controller = new AbortController();
    start(false)(() => controller.abort(new DOMException('timed out', 'TimeoutError')), milliseconds);
    return controller.signal;
  };
}
