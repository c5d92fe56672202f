/**
 * Measures CPU time and memory of process trees, from /proc (Linux only).
 *
 * CPU time is exact: when a parent reaps a child, the kernel adds the child's time and that of its reaped children to
 * the parent. A finished child is therefore read from this process's own "reaped children" counter, and a running
 * server from its tree before and after. Only memory has to be sampled.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { clearInterval, setInterval } from 'node:timers';

const TICKS_PER_SECOND = Number(spawnSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }).stdout) || 100;
const PAGE_BYTES = Number(spawnSync('getconf', ['PAGESIZE'], { encoding: 'utf8' }).stdout) || 4096;
/**
 * Infrequent, since sampling takes time from what is measured; the kernel's own peak covers the time between samples.
 */
const SAMPLE_MS = 1000;
/**
 * Samples per scan of the process tree: a scan of all of /proc costs more than a look at known processes, and trees
 * seldom change.
 */
const LOOKS_PER_TREE = 5;

/**
 * The process's parent, CPU seconds and resident bytes, from /proc/<pid>/stat; undefined once it has ended. The name in
 * that file may contain anything, so fields are counted from the last parenthesis.
 */
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
    return undefined; // the process has ended
  }
}

/** The pids of `root` and of all its descendants that are alive. */
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

/** CPU seconds (user and system) used so far by the living tree of `root` and its reaped descendants. */
export function cpuOfTree(root) {
  let seconds = 0;
  for (const pid of treeOf(root)) {
    const stat = statOf(pid);
    if (stat) seconds += stat.own + stat.reaped;
  }
  return seconds;
}

/** CPU seconds of all children that this process has reaped so far, including their own reaped children. */
export const reapedCpu = () => statOf('self').reaped;

/** CPU seconds so far in which the machine was busy, and those that its host took away (`steal`). */
export function machineCpu() {
  const values = readFileSync('/proc/stat', 'latin1').split('\n', 1)[0].trim().split(/\s+/).slice(1).map(Number);
  const [user, nice, system, , , irq, softirq, steal] = values;
  return {
    busy: (user + nice + system + irq + softirq) / TICKS_PER_SECOND,
    steal: (steal ?? 0) / TICKS_PER_SECOND,
  };
}

/**
 * Samples the resident memory of a tree until `stop()`, which returns the peak in bytes. Pages that processes share are
 * counted once for each of them.
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

/** The kernel's own peak of one process, in bytes, which includes what happened between samples. */
function highWaterOf(pid) {
  try {
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
