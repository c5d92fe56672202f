/** How long the servers of `npm run dev`, `npm run demo` and `npm test` are waited for. */
import type { TimeoutEntry } from './entry.js';

export const STACK = {
  serverReady: {
    value: 60,
    unit: 's',
    bounds: 'the start of a process of the stack: PostgreSQL, Temporal, the sandbox, a worker',
    why: 'ten times what it takes on a small machine that is busy with other things',
  },
  serverStarts: {
    value: 3,
    unit: 'attempts',
    bounds: 'starts of PostgreSQL and of Temporal',
    why: 'another program may take the port between its choice and its use',
  },
  serverProbe: {
    value: 2,
    unit: 's',
    bounds: 'one check of whether PostgreSQL or Temporal is ready',
    why: 'a server that is ready responds within milliseconds',
  },
  postgresLook: {
    value: 40,
    unit: 'ms',
    bounds: 'the pause between two such checks of PostgreSQL',
    why: 'it starts within a second',
  },
  temporalLook: {
    value: 150,
    unit: 'ms',
    bounds: 'the same for Temporal',
    why: 'it starts within a few seconds',
  },
  processLook: {
    value: 100,
    unit: 'ms',
    bounds: 'the same for the sandbox and the worker',
    why: 'they start within a few seconds',
  },
  workerProbe: {
    value: 5,
    unit: 's',
    bounds: 'connecting to Temporal to ask whether the worker is running',
    why: 'Temporal is on the same machine',
  },
  postgresFastShutdown: {
    value: 30,
    unit: 's',
    bounds: 'the fast shutdown of PostgreSQL (SIGINT)',
    why: 'it writes everything to disk first',
  },
  postgresImmediateShutdown: {
    value: 5,
    unit: 's',
    bounds: 'its immediate shutdown (SIGQUIT) after that',
    why: 'it writes nothing more',
  },
  temporalShutdown: {
    value: 10,
    unit: 's',
    bounds: 'the shutdown of Temporal (SIGINT)',
    why: 'it ends its connections first',
  },
  temporalTermination: {
    value: 3,
    unit: 's',
    bounds: 'its termination (SIGTERM) after that',
    why: 'its data is safe with each transaction',
  },
  stackWorkerDrain: {
    value: 60,
    unit: 's',
    bounds: 'the draining of the worker',
    why: 'twice what the worker itself gives its activities',
  },
  stackSandboxDrain: {
    value: 10,
    unit: 's',
    bounds: 'the end of the sandbox',
    why: 'it finishes the requests that it has',
  },
  leftoverTermination: {
    value: 5,
    unit: 's',
    bounds: 'the end of a process that an earlier stack left behind',
    why: 'nobody needs its work any more',
  },
  killedProcess: {
    value: 5,
    unit: 's',
    bounds: 'the end of a process after SIGKILL',
    why: 'only the system can delay it',
  },
  endLook: {
    value: 25,
    unit: 'ms',
    bounds: 'the pause between two checks of whether a process has ended',
    why: 'a check costs nothing',
  },
  workerRestarts: {
    value: 10,
    unit: 'attempts',
    bounds: 'restarts of a worker that ends by itself',
    why: 'a worker that ends more often is not fixed by starting it again',
  },
  demoWaits: {
    value: 10,
    unit: 'min',
    bounds: 'the time that the demo waits for the run of an earlier, interrupted demo',
    why: 'several times what the run takes',
  },
  demoLook: {
    value: 2,
    unit: 's',
    bounds: 'the pause between two attempts to start its own',
    why: "each attempt is a workflow in Temporal's history",
  },
  stackToken: {
    value: 30,
    unit: 'd',
    bounds: 'the life of the token that the stack makes for its sandbox',
    why: 'longer than anybody keeps it running; each start makes a new one',
  },
  devLook: {
    value: 2,
    unit: 's',
    bounds: 'the time between two looks of `dev` at the latest runs and the log of its worker',
    why: 'the display seems live',
  },
  devSettle: {
    value: 150,
    unit: 'ms',
    bounds: 'the time that `dev` waits after a file was saved before it checks the files',
    why: 'an editor writes several files at once, or one in several steps',
  },
  signalRepeat: {
    value: 500,
    unit: 'ms',
    bounds: 'the time in which `dev` and `demo` take two signals for one',
    why: 'npm passes on a signal that a terminal has sent to all processes',
  },
} as const satisfies Readonly<Record<string, TimeoutEntry>>;
