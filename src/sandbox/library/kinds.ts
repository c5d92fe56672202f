/** The kinds of library items, by the name that the store uses for them. */
import { automationTemplates } from './automation-templates.js';
import type { LibraryKind } from './kind.js';
import { segmentDefinitions } from './segment-definitions.js';

/**
 * Keyed by `library_items.type`. Results (4.6) show `automation` as it is, and the word of the settings for `segment`.
 */
export const LIBRARY_KINDS: Readonly<Record<string, LibraryKind>> = {
  automation: automationTemplates,
  segment: segmentDefinitions,
};
