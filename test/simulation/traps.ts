/** Where workers are hit: something happened so many times at which the seed has laid a trap. */
import type { Chronicle } from './chronicle.js';
import type { Kernel, SimulatedProcess } from './kernel.js';
import type { Trap } from './plan.js';
import type { Random } from './random.js';
import { toldBy } from './told-by-statements.js';

export interface TrappedWorld {
  readonly kernel: Kernel;
  readonly random: Random;
  readonly chronicle: Chronicle;
  readonly traps: readonly Trap[];
  /** The workers that are up. */
  readonly workers: () => readonly SimulatedProcess[];
  readonly areFaultsOver: () => boolean;
}

export class Traps {
  readonly #world: TrappedWorld;
  readonly #reached = new Map<string, number>();
  /** The process in whose transaction a partition ends. */
  #ending: SimulatedProcess | null = null;
  /** The process that carries out a removal plan, as of the latest statement that told so. */
  #removing: SimulatedProcess | null = null;

  constructor(world: TrappedWorld) {
    this.#world = world;
  }

  /** How often the point was reached. */
  reached(point: string): number {
    return this.#reached.get(point) ?? 0;
  }

  /** Something happened at which a trap may wait. `process`: whose it is, if that is known. */
  happened(point: string, process: SimulatedProcess | null): void {
    const nth = this.reached(point) + 1;
    this.#reached.set(point, nth);
    for (const trap of this.#world.traps) {
      if (trap.point !== point || trap.nth !== nth) continue;
      const target = process ?? anyOf(this.#world);
      if (target !== null) this.#world.kernel.after(trap.after, () => this.#hit(target, trap), null);
    }
  }

  /** A process has executed a statement on the ledger. */
  executed(sql: string, process: SimulatedProcess | null): void {
    this.happened('statement', process);
    const { points, seen } = toldBy(sql);
    for (const point of points) if (point !== 'done') this.happened(point, process);
    if (points.includes('removals')) this.#removing = process;
    if (points.includes('done')) this.#ending = process;
    if (process !== null && this.#ending === process && sql.startsWith('COMMIT')) this.#hasEndedPartition(process);
    for (const what of seen) this.#world.chronicle.saw(what);
  }

  /** Not before: a process that is frozen in a transaction loses it. */
  #hasEndedPartition(process: SimulatedProcess): void {
    this.#ending = null;
    this.happened('done', process);
    if (this.#removing !== process) return;
    this.#removing = null;
    this.happened('removed', process);
  }

  #hit(process: SimulatedProcess, { point, hit, forMs }: Trap): void {
    if (!process.alive || this.#world.areFaultsOver()) return;
    const { chronicle, kernel } = this.#world;
    chronicle.note(`${process.name} is hit: ${hit}${hit === 'freeze' ? ` for ${forMs} ms` : ''}`);
    chronicle.saw(hit === 'kill' ? `a worker was killed at ${point}` : `a worker was frozen at ${point}`);
    if (hit === 'kill') process.kill();
    else process.frozenUntil = Math.max(process.frozenUntil, kernel.now + forMs);
  }
}

function anyOf({ random, workers }: TrappedWorld): SimulatedProcess | null {
  const up = workers();
  return random.pick(up.length > 0 ? up : [null]);
}
