/** Previews of a sync's mappings, parents before children. */
import { previewMapping, type Preview, type PreviewOptions } from '../../activities/preview-mapping.js';
import type { OpenSync } from '../../activities/dependencies.js';

export async function previewSync(
  sync: OpenSync,
  mappings: readonly string[],
  options: PreviewOptions,
): Promise<Preview[]> {
  const previews: Preview[] = [];
  for (const mapping of mappings) previews.push(await previewMapping(sync, await sync.mapping(mapping), options));
  return previews;
}
