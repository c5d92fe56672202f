/** Follows the log of the stack's worker, for the lines that somebody should see. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { printable } from '../cli/output/text-table.js';

/** Pino's number for errors. Warnings are left out: Temporal's SDK writes some whenever a worker starts. */
const ERROR = 50;

/** Returns a function that reads what was added since the last call: the messages of errors. */
export function followWorkerLog(file: string): () => string[] {
  let at = sizeOf(file);
  let rest = '';
  return () => {
    const added = readFrom(file, at);
    at += added.length;
    const lines = `${rest}${added.toString('utf8')}`.split('\n');
    rest = lines.pop()!;
    return lines.flatMap(messageOf);
  };
}

function messageOf(line: string): string[] {
  try {
    const { level, msg } = JSON.parse(line) as { level?: unknown; msg?: unknown };
    const severe = typeof level === 'number' ? level >= ERROR : level === 'error';
    return severe && typeof msg === 'string' ? [`worker: ${printable(msg)}`] : [];
  } catch {
    // A line of Node or of Temporal's SDK, which is no JSON.
    return [];
  }
}

const sizeOf = (file: string): number => withFile(file, (fd) => fstatSync(fd).size) ?? 0;

const readFrom = (file: string, at: number): Buffer =>
  withFile(file, (fd) => {
    const added = Buffer.alloc(Math.max(0, fstatSync(fd).size - at));
    return added.subarray(0, readSync(fd, added, 0, added.length, at));
  }) ?? Buffer.alloc(0);

function withFile<T>(file: string, work: (fd: number) => T): T | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(file, 'r');
    return work(fd);
  } catch {
    // No worker has been started yet.
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
