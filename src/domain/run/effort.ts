/** What work on a partition takes: time, and requests to the platform. */

/** The class of a response's status; `none`: there was no complete response. */
export const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx', 'none'] as const;
export type StatusClass = (typeof STATUS_CLASSES)[number];

/** The class of a status; null stands for a request without a complete response. */
export const statusClassOf = (status: number | null): StatusClass =>
  status === null ? 'none' : (`${Math.floor(status / 100)}xx` as StatusClass);

/** Requests of one operation that ended alike, and how long they took together. */
export interface EndedRequests {
  readonly operation: string;
  readonly status: StatusClass;
  readonly requests: number;
  readonly ms: number;
}

/** Milliseconds that the chunks of a partition took. Chunks overlap, so together they may take longer than the clock says. */
export interface TimeTaken {
  /** To be read and mapped. */
  readonly readingMs: number;
  /** To be sent to the platform and settled. */
  readonly sendingMs: number;
  /** In the ledger: claims and checkpoints. */
  readonly ledgerMs: number;
}

/** What was done for a partition since its last checkpoint. */
export interface Effort extends TimeTaken {
  readonly requests: readonly EndedRequests[];
}

export const NO_EFFORT: Effort = { readingMs: 0, sendingMs: 0, ledgerMs: 0, requests: [] };

/** Adds up the effort for one partition; `take` returns what was added since it was last called. */
export class EffortMeter {
  #ms: { -readonly [Part in keyof TimeTaken]: number } = { readingMs: 0, sendingMs: 0, ledgerMs: 0 };
  #requests = new Map<string, { -readonly [Part in keyof EndedRequests]: EndedRequests[Part] }>();

  /** Adds milliseconds. */
  add(part: keyof TimeTaken, ms: number): void {
    this.#ms[part] += ms;
  }

  /** Runs the work, and adds how long it takes, even if it fails. */
  async measure<T>(part: keyof TimeTaken, work: () => Promise<T>): Promise<T> {
    const began = performance.now();
    try {
      return await work();
    } finally {
      this.add(part, performance.now() - began);
    }
  }

  /** Adds a request that has ended, with the status or null if there was none. */
  readonly requestEnded = (operation: string, status: number | null, ms: number): void => {
    const of = statusClassOf(status);
    const known = this.#requests.get(`${operation} ${of}`);
    if (known === undefined) this.#requests.set(`${operation} ${of}`, { operation, status: of, requests: 1, ms });
    else {
      known.requests += 1;
      known.ms += ms;
    }
  };

  take(): Effort {
    const effort = { ...this.#ms, requests: [...this.#requests.values()] };
    this.#ms = { readingMs: 0, sendingMs: 0, ledgerMs: 0 };
    this.#requests = new Map();
    return effort;
  }
}
