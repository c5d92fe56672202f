/** Folders that nobody may write, root included, who otherwise may whatever their modes say. */
import type * as Files from 'node:fs/promises';

export const unwritable = new Set<unknown>();

/** The module with these folders. `vi.mock('node:fs/promises', withUnwritable)` belongs into a file that runs alone (vitest.config.ts). */
export async function withUnwritable(original: () => Promise<typeof Files>): Promise<Partial<typeof Files>> {
  const files = await original();
  const refusal = Object.assign(new Error('permission denied'), { code: 'EACCES' });
  return {
    ...files,
    access: (path, mode) => (unwritable.has(path) ? Promise.reject(refusal) : files.access(path, mode)),
  };
}
