/** Previews several mappings of a sync. */
import { previewMapping, type Preview, type PreviewOptions } from './preview-mapping.js';
import type { OpenSync } from '../delivery/dependencies.js';

/** One preview for each of `mappings`, in their order. One after the other, since each may read its whole table. */
export async function previewSync(
  sync: OpenSync,
  mappings: readonly string[],
  options: PreviewOptions,
): Promise<Preview[]> {
  const previews: Preview[] = [];
  for (const mapping of mappings) previews.push(await previewMapping(sync, await sync.mapping(mapping), options));
  return previews;
}
