/** The workers of a campaign: processes of the built command line, which are killed, frozen and started again. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProcess } from './process.mjs';

const preloaded = (name) => ['--import', fileURLToPath(new URL(name, import.meta.url))];

/** The options with which `partner-sync` starts its own workers (src/config/engine-flags.ts), and the points. */
const NODE_OPTIONS = ['--max-semi-space-size=16', ...preloaded('load-with-points.mjs')];
const MEMORY = preloaded('report-used-memory.mjs');

/**
 * @param {number} count how many run at once
 * @param {boolean} reportsMemory whether each writes down what it holds (used-memory.mjs)
 * @param {(death: {point: string | null, holds: {id: string, token: number}[], at: number}) => void} onDeath called when one has
 *   died, before its successor is started
 */
export async function startWorkers({ folder, env, count, reportsMemory, onDeath }) {
  const armed = join(folder, 'armed');
  let isOver = false;
  const failures = [];
  const workers = await Promise.all(Array.from({ length: count }, (_, no) => startWorker(no)));

  async function startWorker(no) {
    const path = join(folder, `worker-${no}`);
    for (const file of ['holds', 'died']) rmSync(`${path}.${file}`, { force: true });
    const worker = {
      no,
      path,
      process: await startProcess(['worker'], {
        ready: 'worker ready',
        env: { ...env, CAMPAIGN_ARMED: armed, CAMPAIGN_WORKER: path },
        cwd: folder,
        logFile: `${path}.log`,
        nodeOptions: reportsMemory ? [...NODE_OPTIONS, ...MEMORY] : NODE_OPTIONS,
      }),
    };
    void worker.process.ended.then((how) => (isOver ? undefined : replace(worker, how)));
    return worker;
  }

  async function replace({ no, path }, how) {
    const point = existsSync(`${path}.died`) ? readFileSync(`${path}.died`, 'utf8') : null;
    const death = { point, holds: holdsOf(path), at: Date.now() };
    if (how === 'SIGKILL') onDeath(death);
    else failures.push(`a worker has ended by itself, with ${how}: ${tailOf(`${path}.log`)}`);
    workers[no] = undefined;
    while (!isOver) {
      try {
        workers[no] = await startWorker(no);
        return;
      } catch {
        // A part that it needs at its start is down.
      }
    }
  }

  const living = () => workers.filter((worker) => worker !== undefined);
  return {
    living,
    /** Workers that nobody has killed, but have ended. */
    failures,
    kill: (worker) => worker.process.signal('SIGKILL'),
    /** The worker that first comes to one of these points dies there. */
    arm(points) {
      writeFileSync(`${armed}.new`, JSON.stringify(points));
      renameSync(`${armed}.new`, armed);
    },
    disarm: () => rmSync(armed, { force: true }),
    async stop() {
      isOver = true;
      await Promise.all(living().map((worker) => worker.process.stop()));
    },
  };
}

/** The partitions that a worker has acquired, with the token of its latest attempt at each. */
function holdsOf(path) {
  const lines = existsSync(`${path}.holds`) ? readFileSync(`${path}.holds`, 'utf8').split('\n') : [];
  const tokens = new Map(lines.filter(Boolean).map((line) => line.split(' ')));
  return [...tokens].map(([id, token]) => ({ id, token: Number(token) }));
}

const tailOf = (file) => readFileSync(file, 'utf8').slice(-1500);
