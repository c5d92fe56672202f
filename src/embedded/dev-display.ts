/** Shows what happens in `dev`: one screen that is redrawn on a terminal, a line for each event elsewhere. */
import { clock, screenLines, type DevState } from './dev-screen.js';

/** Where `dev` shows what happens. */
export interface DevDisplay {
  /** Something has happened: lines for people. `details` are left out on a screen, which shows them in another place. */
  event(lines: readonly string[], details?: readonly string[]): void;
  /** Shows the state as it is now, from now on as a screen. */
  show(state: Omit<DevState, 'events'>): void;
  /** Back to plain lines: what follows is shown below what is there. */
  end(): void;
}

/** Events that are remembered for a large terminal. */
const REMEMBERED = 200;

/** A display on `stream`, by default stdout. */
export const openDevDisplay = (stream: NodeJS.WriteStream = process.stdout): DevDisplay =>
  stream.isTTY ? redrawn(stream) : plain(stream);

const plain = (stream: NodeJS.WriteStream): DevDisplay => ({
  event: (lines, details = []) => void stream.write([...lines, ...details].map((line) => `${line}\n`).join('')),
  show: () => undefined,
  end: () => undefined,
});

/** Draws from the top left corner over what is there: clearing first would make the screen flicker. */
function redrawn(stream: NodeJS.WriteStream): DevDisplay {
  let state: Omit<DevState, 'events'> | undefined;
  let events: readonly string[] = [];
  const draw = (): void => {
    if (state === undefined) return;
    const lines = screenLines({ ...state, events }, { columns: stream.columns || 80, rows: stream.rows || 24 });
    stream.write(`\u001b[H${lines.map((line) => `${line}\u001b[K\n`).join('')}\u001b[J`);
  };
  stream.on('resize', draw);
  return {
    event(lines) {
      if (state === undefined) return plain(stream).event(lines);
      const time = clock(new Date());
      events = [...events, ...lines.map((line) => `${time}  ${line}`)].slice(-REMEMBERED);
      draw();
    },
    show(next) {
      if (state === undefined) stream.write('\u001b[2J');
      state = next;
      draw();
    },
    end() {
      stream.off('resize', draw);
      state = undefined;
    },
  };
}
