/** Adapts the size of pages: fewer rows after a page that was slow or wide, more again while pages are neither. */
import { times } from '../domain/timeouts.js';

/** Characters of one page that are kept in memory, at most. */
export const MAX_PAGE_CHARACTERS = 16 * 1024 * 1024;

/** What was measured of a page. */
export interface PageFacts {
  readonly rows: number;
  readonly characters: number;
  readonly milliseconds: number;
  /** Whether rows were left out because the page was over its budget. */
  readonly cut: boolean;
}

/** The page size of one read of a table. */
export class PageSizer {
  readonly #slow: number;
  #limit = Infinity;

  /** `statementTimeout` in seconds. */
  constructor(statementTimeout: number) {
    this.#slow = statementTimeout * 1000 * times('sourceSlowPage');
  }

  /** How many rows to request if `asked` are wanted: at least 1. */
  limit(asked: number): number {
    return Math.max(1, Math.min(asked, this.#limit));
  }

  /** Learns from a page that was read. */
  observe({ rows, characters, milliseconds, cut }: PageFacts): void {
    const fitting = Math.floor((rows * MAX_PAGE_CHARACTERS) / 2 / Math.max(1, characters));
    if (cut) this.#limit = Math.max(1, Math.min(fitting, rows));
    else if (rows === 0) return;
    else if (milliseconds > this.#slow) this.#limit = Math.max(1, Math.floor(rows / 2));
    // Doubling recovers from one slow page within a few good ones, and never goes beyond what fits.
    else if (rows >= this.#limit) this.#limit = Math.max(1, Math.min(this.#limit * 2, fitting));
  }

  /** Learns that a page of `rows` ran into the statement timeout. */
  tooSlow(rows: number): void {
    this.#limit = Math.max(1, Math.floor(rows / 4));
  }
}
