/**
 * `npm run campaign -- --kills N --seed S`: real workers, databases, a Temporal server and the sandbox, whose processes are killed
 * while the workers load a source that keeps changing; then the platform is compared with the source, record by record
 * (docs/reliability.md). Exits with 1 if anything was lost, stale, of another tenant, or has not come to its end.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepared } from './campaign/stage.mjs';
import { optionsOf, USAGE } from './campaign/options.mjs';
import { codeNow, linesOf, reportOf } from './campaign/report.mjs';
import { playRound } from './campaign/round.mjs';
import { soak } from './campaign/soak.mjs';
import { openState, sumOf } from './campaign/state.mjs';

const FOLDER = fileURLToPath(new URL('../.partner-sync/campaign', import.meta.url));
const log = (line) => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`);

let options;
try {
  options = optionsOf(process.argv.slice(2));
} catch (error) {
  console.error(`${error.message}\n\n${USAGE}`);
  process.exit(2);
}
if (options.help) console.log(USAGE);
else process.exitCode = await main();

async function main() {
  if (!options.resume) rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  const { state, save } = openState(FOLDER, options.resume ? undefined : options.kept);
  const code = codeNow();
  if (!state.commits.includes(code)) state.commits.push(code);
  const began = performance.now();
  const before = state.minutes;
  const minutes = () => (performance.now() - began) / 60_000;
  log(`seed ${state.options.seed}: ${JSON.stringify(state.options)}`);
  const stage = await prepared(FOLDER, state, log);
  let isInterrupted = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => {
      if (isInterrupted) return;
      isInterrupted = true;
      log('interrupted: stopping what was started; npm run campaign -- --resume goes on');
      // Whatever is under way loses its servers.
      process.on('unhandledRejection', () => {});
      void stage.close().finally(() => process.exit(130));
    });
  const keep = () => {
    state.minutes = before + minutes();
    save();
  };
  try {
    if (options.resume) await stage.runs.untilNoneIsLeft();
    const isOver = () => minutes() > options.minutes || state.violations.length > 0;
    if (state.options.soak !== null) await soak(stage, state, { isOver, keep, log });
    else
      do await playRound(stage, state, { isOver, keep, log });
      while (!isOver() && sumOf(state.kills) + sumOf(state.faults) < state.options.kills + state.options.mixed);
  } catch (error) {
    if (!isInterrupted) state.violations.push(`the campaign itself has failed: ${error.stack}`);
  } finally {
    keep();
    await stage.close();
  }
  if (isInterrupted) return 130;
  const report = reportOf(state);
  for (const file of [join(FOLDER, 'report.json'), options.report])
    if (file !== undefined) writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
  for (const line of linesOf(report)) console.log(line);
  return report.violations.length > 0 ? 1 : 0;
}
