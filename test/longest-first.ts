/** The order of the test files: the longest first, so that none of them is still running after all others. */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Seconds on a quiet machine by file, of those that took more than ten. Written by scripts/record-durations.mjs. */
const DURATIONS = JSON.parse(readFileSync(new URL('durations.json', import.meta.url), 'utf8')) as Record<
  string,
  number
>;

export class LongestFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    const seconds = ({ moduleId }: TestSpecification): number => DURATIONS[relative(root, moduleId)] ?? 0;
    // Side by side, so that processes which are shared by the files of a project are not given up in between.
    const isolated = ({ project }: TestSpecification): number => Number(project.config.isolate);
    return Promise.resolve(
      files.sort((a, b) => isolated(b) - isolated(a) || seconds(b) - seconds(a) || (a.moduleId < b.moduleId ? -1 : 1)),
    );
  }
}
