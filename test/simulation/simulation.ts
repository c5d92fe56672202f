/** The simulation that is running: what the replaced modules and globals work with. */
import type { Kernel } from './kernel.js';
import type { Random } from './random.js';
import type { TemporalServer } from './temporal-server.js';

export interface Simulation {
  readonly kernel: Kernel;
  /** What code under test draws: `Math.random`, random ids. */
  readonly random: Random;
  readonly temporal: TemporalServer;
  /** The simulated platform's network. */
  readonly platform: PlatformNetwork;
  /** Adds a line to the trace. */
  readonly note: (line: string) => void;
}

/** A request as the HTTP client sends it. */
export interface PlatformRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface PlatformResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends a request; rejects with an error that has a `code` when the connection is lost. */
export type PlatformNetwork = (request: PlatformRequest) => Promise<PlatformResponse>;

let running: Simulation | null = null;

/** Throws unless a simulation is running: code that runs outside one would not be deterministic. */
export function current(): Simulation {
  if (running === null) throw new Error('no simulation is running');
  return running;
}

/** The running simulation, if there is one. */
export const currentIfAny = (): Simulation | null => running;

export function setCurrent(simulation: Simulation | null): void {
  running = simulation;
}
