/** A slot as a feed. */
import type { FeedConfig } from '../../../domain/source/change-feed.js';

/** A feed from a slot, as the files declare it. */
export type SlotConfig = Extract<FeedConfig, { kind: 'slot' }>;
