/**
 * A lock file between processes, so that two of them do not build the same thing at the same time.
 *
 * It only saves work. Correctness does not depend on it: what it protects is built elsewhere and renamed into place.
 */
import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { clearInterval, setInterval } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';

/** How often the holder touches the file. */
const BEAT_MS = 2_000;
/** A holder that has not touched the file for this long is dead, even if another program has its pid. */
const SILENT_MS = 20_000;

/** Waits for the lock and resolves to the function that releases it. `onWait` is called once if it has to wait. */
export async function holdLock(file, onWait = () => {}) {
  let waited = false;
  while (!take(file)) {
    if (!heldByTheLiving(file)) {
      rmSync(file, { force: true });
      continue;
    }
    if (!waited) onWait();
    waited = true;
    await sleep(250);
  }
  const beat = setInterval(() => {
    try {
      utimesSync(file, new Date(), new Date());
    } catch {
      // The folder was cleared; losing the lock costs only duplicate work.
    }
  }, BEAT_MS);
  beat.unref();
  return () => {
    clearInterval(beat);
    rmSync(file, { force: true });
  };
}

/** Creates the file; false if it exists. */
function take(file) {
  try {
    writeFileSync(file, `${process.pid}\n`, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Whether the holder is alive. */
function heldByTheLiving(file) {
  try {
    if (Date.now() - statSync(file).mtimeMs > SILENT_MS) return false;
    const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
    // The file is empty between its creation and the first write.
    if (!Number.isSafeInteger(pid)) return true;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
