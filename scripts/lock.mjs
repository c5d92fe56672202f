/**
 * A lock between processes, so that two of them do not build the same thing side by side.
 *
 * It saves work and is not needed for safety: what it protects is made in a folder of its own and renamed into place.
 */
import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { clearInterval, setInterval } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';

const BEAT_MS = 2_000;
/** A holder that has not stirred for this long is dead, even if its pid lives on as another program's. */
const SILENT_MS = 20_000;

/** Waits until the lock is ours; answers the function that releases it. `onWait` is called once if it must wait. */
export async function holdLock(file, onWait = () => {}) {
  for (let waited = false; ;) {
    if (take(file)) break;
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
      // The folder was cleared; the lock is only an economy.
    }
  }, BEAT_MS);
  beat.unref();
  return () => {
    clearInterval(beat);
    rmSync(file, { force: true });
  };
}

function take(file) {
  try {
    writeFileSync(file, `${process.pid}\n`, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function heldByTheLiving(file) {
  try {
    if (Date.now() - statSync(file).mtimeMs > SILENT_MS) return false;
    const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
    // Between its creation and its first write the file is empty.
    if (!Number.isSafeInteger(pid)) return true;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
