/**
 * Records how long the test files take in test/durations.json, which determines their order:
 * npm test -- --reporter=json --outputFile=report.json && node scripts/record-durations.mjs report.json
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Seconds. The order of shorter files makes no difference. */
const WORTH_RECORDING = 10;

const { testResults } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const durations = testResults
  .map(({ name, startTime, endTime }) => [relative(ROOT, name), Math.round((endTime - startTime) / 1000)])
  .filter(([, seconds]) => seconds >= WORTH_RECORDING)
  .sort((a, b) => b[1] - a[1]);
writeFileSync(`${ROOT}test/durations.json`, `${JSON.stringify(Object.fromEntries(durations), null, 2)}\n`);
