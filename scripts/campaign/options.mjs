/** The command line of a campaign. */
import { parseArgs } from 'node:util';

export const USAGE = `npm run campaign -- [--kills N] [--mixed M] [--seed S] [--rows R] [--workers W] [--at-once N]
                        [--pause SECONDS] [--quick]
npm run campaign -- --soak MINUTES [--rate R] [--seed S] [--rows R] [--workers W]
npm run campaign -- --resume [--minutes M]

  --kills N       how many times a worker is killed while runs load all rows (default 25)
  --mixed M       how many other faults come in between (default 0): frozen workers, killed servers, cut and slow networks
  --seed S        decides about moments, points, faults and changes (default 1)
  --rows R        rows of the source (default 1000000)
  --workers W     workers at once (default 3)
  --rate R        changes of the source a second (default 20; with --soak 1000)
  --at-once N     how many ranges of rows are loaded at the same time (default 14, which is all). With fewer than the workers that
                  are left have slots for, the work of a dead one need not wait for another's time slice
  --pause SECONDS the average pause before a kill or a fault (default 12)
  --quick         kill only in steps with heartbeats: Temporal notices a kill in any other after two minutes
  --minutes M     begin no more kills and faults after so many minutes; the round is finished
  --resume        go on with the campaign that was interrupted, with its options
  --soak MINUTES  no kills: so many changes for so long, with one request of a hundred failing; memory, files, ledger and open
                  batches are judged
  --report FILE   where the report is written, too`;

const TEXT = { type: 'string' };
const FLAG = { type: 'boolean', default: false };
const DEFAULTS = { kills: 25, mixed: 0, seed: 1, rows: 1_000_000, workers: 3, pause: 12, 'at-once': 14 };

/** Throws with a message for people. */
export function optionsOf(args) {
  const { values } = parseArgs({
    args,
    options: {
      ...Object.fromEntries(
        [...Object.keys(DEFAULTS), 'rate', 'minutes', 'soak', 'report'].map((name) => [name, TEXT]),
      ),
      quick: FLAG,
      resume: FLAG,
      help: FLAG,
    },
  });
  const whole = (name, otherwise) => {
    const number = Number(values[name] ?? otherwise);
    if (Number.isInteger(number) && number >= (name === 'kills' || name === 'mixed' ? 0 : 1)) return number;
    throw new Error(`--${name} must be a whole number, got ${values[name]}`);
  };
  const soak = values.soak === undefined ? null : whole('soak');
  return {
    help: values.help,
    resume: values.resume,
    report: values.report,
    minutes: values.minutes === undefined ? Infinity : whole('minutes'),
    /** What the state file keeps. */
    kept: {
      ...Object.fromEntries(Object.entries(DEFAULTS).map(([name, otherwise]) => [name, whole(name, otherwise)])),
      rate: whole('rate', soak === null ? 20 : 1000),
      quick: values.quick,
      soak,
    },
  };
}
