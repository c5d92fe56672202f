/** The Updates that pause a run and let it go on. */
import { condition, defineUpdate, setHandler } from '@temporalio/workflow';
import { checkControlInput, pauseLine, type ControlInput, type Pause } from '../src/domain/run-controls.js';

const pauseUpdate = defineUpdate<string, [ControlInput?]>('pause');
const resumeUpdate = defineUpdate<string, [ControlInput?]>('resume');

/**
 * Whether a run is paused. A paused run keeps its lease and begins nothing new: loads that are under way end by
 * themselves, within seconds, and all that is done by then is in the ledger.
 */
export class RunControls {
  #pause: Pause | null = null;

  /** Handles the Updates from now on. `changed` is called when a pause has begun or ended. */
  constructor(changed: () => void) {
    const set = (pause: Pause | null): void => {
      this.#pause = pause;
      changed();
    };
    setHandler(
      pauseUpdate,
      (input?: ControlInput) => {
        const { by = null, reason = null } = input ?? {};
        set({ since: new Date().toISOString(), by, reason });
        return 'paused: loads that are under way end within seconds, and nothing new begins until resume';
      },
      {
        description: 'Pauses the run. Input: nothing, or {"reason":"..."}',
        validator: (input?: ControlInput) => {
          checkControlInput('pause', input);
          if (this.#pause !== null) throw new Error(`pause: the run is ${pauseLine(this.#pause)} already`);
        },
      },
    );
    setHandler(
      resumeUpdate,
      () => {
        const line = pauseLine(this.#pause!);
        set(null);
        return `resumed; it was ${line}`;
      },
      {
        description: 'Lets a paused run go on. Input: nothing',
        validator: (input?: ControlInput) => {
          checkControlInput('resume', input);
          if (this.#pause === null) throw new Error('resume: the run is not paused');
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
