/** What happens in a seed: its trace, what was seen how often, and what was found wrong. */
import type { Kernel } from './kernel.js';

export class Chronicle {
  /** What was found wrong; empty if nothing was. */
  readonly violations: string[] = [];
  readonly trace: string[] = [];
  readonly #sometimes = new Map<string, number>();
  readonly #kernel: Kernel;
  readonly #start: number;
  #hash = 0x811c9dc5;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#start = kernel.now;
  }

  /** How often something interesting has happened. */
  get sometimes(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#sometimes);
  }

  /** Of all lines: the same story has the same one. */
  get hash(): string {
    return (this.#hash >>> 0).toString(16);
  }

  /** Adds a line to the trace. */
  readonly note = (line: string): void => {
    const text = `${((this.#kernel.now - this.#start) / 1000).toFixed(3).padStart(10)} ${line}`;
    for (let i = 0; i < text.length; i++) this.#hash = Math.imul(this.#hash ^ text.charCodeAt(i), 0x01000193);
    this.trace.push(text);
  };

  /** Counts something that the seeds are to try. */
  readonly saw = (what: string): void => {
    this.#sometimes.set(what, (this.#sometimes.get(what) ?? 0) + 1);
  };

  readonly violate = (what: string): void => {
    this.violations.push(what);
    this.note(`VIOLATION ${what}`);
  };
}
