/** How many rows to ask for: fewer after a page that was too slow or too fat, more again while pages are neither. */

/** Characters of one page that are kept in memory, at most. */
export const PAGE_BUDGET = 16 * 1024 * 1024;
/** Share of the statement timeout that a page may take before the next is made smaller. */
const SLOW = 0.25;

export interface PageFacts {
  readonly rows: number;
  readonly characters: number;
  readonly milliseconds: number;
  /** Rows were left out, because the page was over its budget. */
  readonly cut: boolean;
}

export class PageSizer {
  readonly #slow: number;
  #limit = Infinity;

  constructor(statementTimeout: number) {
    this.#slow = statementTimeout * 1000 * SLOW;
  }

  /** Rows to ask for where `asked` are wanted. */
  limit(asked: number): number {
    return Math.max(1, Math.min(asked, this.#limit));
  }

  observe({ rows, characters, milliseconds, cut }: PageFacts): void {
    const fitting = Math.floor((rows * PAGE_BUDGET) / 2 / Math.max(1, characters));
    if (cut) this.#limit = Math.max(1, Math.min(fitting, rows));
    else if (rows === 0) return;
    else if (milliseconds > this.#slow) this.#limit = Math.max(1, Math.floor(rows / 2));
    // Doubling forgets one slow page within a few good ones, and never beyond what fits.
    else if (rows >= this.#limit) this.#limit = Math.max(1, Math.min(this.#limit * 2, fitting));
  }

  /** The database gave up on a page of `rows`. */
  tooSlow(rows: number): void {
    this.#limit = Math.max(1, Math.floor(rows / 4));
  }
}
