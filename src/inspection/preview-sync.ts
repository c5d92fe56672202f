/** Previews several mappings of a sync. */
import { previewMapping, type Preview, type PreviewOptions } from './preview-mapping.js';
import { WaitingChildren } from './waiting-children.js';
import type { OpenSync } from '../delivery/dependencies.js';

/**
 * One preview for each of `mappings`, in their order. One after the other, since each may read its whole table; parents first,
 * so that it is known what would wait for a row that fails.
 */
export async function previewSync(
  sync: OpenSync,
  mappings: readonly string[],
  options: PreviewOptions,
): Promise<Preview[]> {
  const children = new WaitingChildren(sync, options.ledger);
  const previews: Preview[] = [];
  for (const mapping of mappings)
    previews.push(await previewMapping(sync, await sync.mapping(mapping), options, children));
  return Promise.all(
    previews.map(async (preview) => {
      const mapping = await sync.mapping(preview.mapping);
      return {
        ...preview,
        waiting: children.ofFailures(mapping),
        missingParents: children.missingParents(mapping),
        examples: preview.examples.map((row) => ({
          ...row,
          waiting: row.prediction === 'fails' ? children.of(mapping, row.result) : [],
        })),
      };
    }),
  );
}
