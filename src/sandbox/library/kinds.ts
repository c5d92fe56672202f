/** The kinds of library items, under the names that the results of 4.6 and the store have for them. */
import { automationTemplates } from './automation-templates.js';
import type { LibraryKind } from './kind.js';
import { segmentDefinitions } from './segment-definitions.js';

export const LIBRARY_KINDS: Readonly<Record<string, LibraryKind>> = {
  automation: automationTemplates,
  segment: segmentDefinitions,
};
