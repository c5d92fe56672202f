/**
 * A reporter that records how long the test files take, with their hooks, in test/durations.json, which determines their order:
 * npm test -- --reporter=default --reporter=./scripts/record-durations.mjs
 */
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Seconds. The order of shorter files makes no difference. */
const WORTH_RECORDING = 10;

export default class RecordDurations {
  onTestRunEnd(modules) {
    const durations = modules
      .map((module) => [relative(ROOT, module.moduleId), Math.round(module.diagnostic().duration / 1000)])
      .filter(([, seconds]) => seconds >= WORTH_RECORDING)
      .sort((a, b) => b[1] - a[1]);
    writeFileSync(`${ROOT}test/durations.json`, `${JSON.stringify(Object.fromEntries(durations), null, 2)}\n`);
  }
}
