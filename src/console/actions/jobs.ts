/** The commands that the console runs for people, and what they print. They are forgotten when the console ends. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Env } from '../../config/environment.js';

/** A command that was started. */
export interface Job {
  readonly id: string;
  readonly title: string;
  readonly args: readonly string[];
  readonly sync: string;
  readonly startedAt: Date;
  /** null while it runs; -1 if it could not be started or was killed. */
  readonly exitCode: number | null;
  /** What it has printed, its end if that is much. */
  readonly output: string;
}

export interface Jobs {
  /** Starts a command; `who` is whom it is done for. */
  start(title: string, sync: string, args: readonly string[], who: string): Job;
  find(id: string): Job | undefined;
  /** Ends those that still run. */
  close(): void;
}

const KEPT = 100;
const LONGEST_OUTPUT = 200_000;

/**
 * @param command the program and its first arguments, before those of a job
 * @param env the variables that the console itself was started with
 */
export function openJobs(command: readonly [string, ...string[]], env: Env): Jobs {
  const jobs = new Map<string, Job>();
  const running = new Set<ChildProcess>();
  return {
    start(title, sync, args, who) {
      const job = {
        id: randomUUID(),
        title,
        args,
        sync,
        startedAt: new Date(),
        exitCode: null as number | null,
        output: '',
      };
      jobs.set(job.id, job);
      for (const id of jobs.keys()) if (jobs.size > KEPT) jobs.delete(id);
      const [program, ...first] = command;
      // No shell: what a person has typed is an argument and nothing else.
      const child = spawn(program, [...first, ...args], {
        env: { ...env, PARTNER_SYNC_ACTOR: who },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      running.add(child);
      const take = (chunk: string): void => void (job.output = (job.output + chunk).slice(-LONGEST_OUTPUT));
      child.stdout.setEncoding('utf8').on('data', take);
      child.stderr.setEncoding('utf8').on('data', take);
      const end = (code: number | null): void => {
        running.delete(child);
        job.exitCode ??= code ?? -1;
      };
      child.once('error', (error) => {
        take(`${error.message}\n`);
        end(-1);
      });
      child.once('close', end);
      return job;
    },
    find: (id) => jobs.get(id),
    close: () => running.forEach((child) => child.kill()),
  };
}
