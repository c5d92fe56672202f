/**
 * CPU and memory of process trees, read from /proc (Linux).
 *
 * CPU is exact: the kernel adds a process's time, and that of all whom it waited for, to its parent when the
 * parent reaps it. So a finished child is read from our own "reaped children" counter, and a server that still runs
 * from its tree before and after. Only memory has to be sampled.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { clearInterval, setInterval } from 'node:timers';

const TICKS_PER_SECOND = Number(spawnSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }).stdout) || 100;
const PAGE_BYTES = Number(spawnSync('getconf', ['PAGESIZE'], { encoding: 'utf8' }).stdout) || 4096;
/** Seldom, since what measures takes its time from what is measured; the kernel's own peak tells of what is between. */
const SAMPLE_MS = 1000;
/** A look at all of /proc costs more than one at known processes, and trees seldom change. */
const LOOKS_PER_TREE = 5;

/** The fields of /proc/<pid>/stat behind the name (which may hold anything, hence the last bracket). */
function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [utime, stime, reapedUser, reapedSystem] = fields.slice(11, 15).map(Number);
    return {
      parent: Number(fields[1]),
      own: (utime + stime) / TICKS_PER_SECOND,
      reaped: (reapedUser + reapedSystem) / TICKS_PER_SECOND,
      rss: Number(fields[21]) * PAGE_BYTES,
    };
  } catch {
    return undefined; // it ended meanwhile
  }
}

/** The pids of `root` and all its descendants that live now. */
export function treeOf(root) {
  const children = new Map();
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? statOf(name)?.parent : undefined;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const tree = [root];
  for (let i = 0; i < tree.length; i++) tree.push(...(children.get(tree[i]) ?? []));
  return tree;
}

/** CPU seconds, user and system, that the living tree of `root` and its reaped descendants have used so far. */
export function cpuOfTree(root) {
  let seconds = 0;
  for (const pid of treeOf(root)) {
    const stat = statOf(pid);
    if (stat) seconds += stat.own + stat.reaped;
  }
  return seconds;
}

/** CPU seconds of all children that this process has reaped so far, their own reaped children included. */
export const reapedCpu = () => statOf('self').reaped;

/** CPU seconds that the whole machine has worked so far, and those that its host took away. */
export function machineCpu() {
  const values = readFileSync('/proc/stat', 'latin1').split('\n', 1)[0].trim().split(/\s+/).slice(1).map(Number);
  const [user, nice, system, , , irq, softirq, steal] = values;
  return {
    busy: (user + nice + system + irq + softirq) / TICKS_PER_SECOND,
    steal: (steal ?? 0) / TICKS_PER_SECOND,
  };
}

/**
 * Samples the resident memory of one tree until stopped; `stop()` gives the peak in bytes.
 * Pages that processes of one tree share are counted in each of them.
 */
export function sampleMemory(root) {
  let peak = 0;
  let looks = 0;
  let tree = [root];
  const look = () => {
    if (looks++ % LOOKS_PER_TREE === 0) tree = treeOf(root);
    let sum = 0;
    for (const pid of tree) sum += statOf(pid)?.rss ?? 0;
    peak = Math.max(peak, sum, highWaterOf(root));
  };
  look();
  const timer = setInterval(look, SAMPLE_MS);
  return {
    stop() {
      clearInterval(timer);
      return peak;
    },
  };
}

/** The kernel's own peak of one process: what happened between two looks is in it. */
function highWaterOf(pid) {
  try {
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
