/** The Updates that pause a run and let it go on, and who sends an Update. */
import { condition, currentUpdateInfo, defineUpdate, setHandler, workflowInfo } from '@temporalio/workflow';
import { actorOfUpdate, type Actor } from '../src/domain/run/audit.js';
import {
  checkControlInput,
  pauseLine,
  type ControlInput,
  type Pause,
  UpdateRefused,
} from '../src/domain/run/run-controls.js';

const pauseUpdate = defineUpdate<string, [ControlInput?]>('pause');
const resumeUpdate = defineUpdate<string, [ControlInput?]>('resume');

/** The sender of the Update whose handler calls this. */
export const updateActor = ({ by }: ControlInput): Actor => actorOfUpdate(currentUpdateInfo()!.id, by);

/** What tells the Update whose handler calls this from all others: clients choose ids that are unique in one execution. */
export const updateKey = (): string => `${workflowInfo().runId}/${currentUpdateInfo()!.id}`;

/**
 * Whether a run is paused. A paused run keeps its lease and starts no activity that queries the source, sends, or ends
 * the run. Those that it has started, though a worker may not have taken them up yet, end by themselves, usually within a
 * time slice; all that is done by then is in the ledger.
 */
export class RunControls {
  #pause: Pause | null = null;

  /** Handles the Updates from now on. `changed` is called when a pause has begun or ended, with who asked for it. */
  constructor(changed: (action: 'run_paused' | 'run_resumed', input: ControlInput) => void) {
    const set = (pause: Pause | null, input: ControlInput = {}): void => {
      this.#pause = pause;
      changed(pause === null ? 'run_resumed' : 'run_paused', input);
    };
    setHandler(
      pauseUpdate,
      (input?: ControlInput) => {
        const given = input ?? {};
        const { by = null, reason = null } = given;
        set({ since: new Date().toISOString(), by, reason }, given);
        return 'paused: activities that were started end by themselves, usually within 15 seconds; no other is started until resume';
      },
      {
        description: 'Pauses the run. Input: nothing, or {"reason":"..."}',
        validator: (input?: ControlInput) => {
          checkControlInput('pause', input);
          if (this.#pause !== null) throw new UpdateRefused(`pause: the run is ${pauseLine(this.#pause)} already`);
        },
      },
    );
    setHandler(
      resumeUpdate,
      (input?: ControlInput) => {
        const line = pauseLine(this.#pause!);
        set(null, input ?? {});
        return `resumed; it was ${line}`;
      },
      {
        description: 'Resumes a paused run. Input: nothing',
        validator: (input?: ControlInput) => {
          checkControlInput('resume', input);
          if (this.#pause === null) throw new UpdateRefused('resume: the run is not paused');
        },
      },
    );
  }

  /** null unless the run is paused. */
  get pause(): Pause | null {
    return this.#pause;
  }

  /** Resolves at once unless the run is paused, and otherwise when it goes on. */
  async untilRunning(): Promise<void> {
    if (this.#pause !== null) await condition(() => this.#pause === null);
  }
}
