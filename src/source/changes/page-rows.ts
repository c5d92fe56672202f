/** How many rows of a change table are read at once. */
export const PAGE_ROWS = 10_000;
