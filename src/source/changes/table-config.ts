/** A change table as a feed. */
import type { FeedConfig } from '../../domain/source/change-feed.js';

/** A feed from a table that triggers fill, as the files declare it. */
export type TableConfig = Extract<FeedConfig, { kind: 'table' }>;
