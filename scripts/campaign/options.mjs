/** The command line of a campaign. */
import { parseArgs } from 'node:util';
import { SOURCES } from './sources.mjs';

export const USAGE = `npm run campaign -- [--kills N] [--mixed M] [--seed S] [--rows R] [--workers W] [--at-once N]
                        [--pause SECONDS] [--quick]
npm run campaign -- --feed slot|table [--source postgres|mariadb|sqlite] [--kills N] [--mixed M] ...
npm run campaign -- --soak MINUTES [--feed slot|table] [--source ...] [--rate R] [--seed S] [--rows R] [--workers W]
npm run campaign -- --resume [--minutes M]

  --kills N       how many times a worker is killed while runs load all rows (default 25)
  --mixed M       how many other faults come in between (default 0): frozen workers, killed servers, cut and slow networks
  --seed S        decides about moments, points, faults and changes (default 1)
  --rows R        rows of the source (default 1000000; with --feed 20000)
  --feed KIND     no cursor: a slot or a change table tells what has changed. Runs in mode live, with backfills beside them, take turns
                  with incremental ones, and no run reads every row but the first
  --source KIND   the source's database (default postgres; another one needs --feed table)
  --source-program FILE
                  the server's program of the source's PostgreSQL, such as that of another version
  --workers W     workers at once (default 3)
  --rate R        changes of the source a second (default 20; with --feed 100, with --soak 1000)
  --at-once N     how many ranges of rows are loaded at the same time (default 14, which is all). With fewer than the workers that
                  are left have slots for, the work of a dead one need not wait for another's time slice
  --pause SECONDS the average pause before a kill or a fault (default 12)
  --quick         kill only at points, and let no incremental run work beside the backfills
  --minutes M     begin no more kills and faults after so many minutes; the round is finished
  --resume        go on with the campaign that was interrupted, with its options
  --soak MINUTES  no kills: so many changes for so long, with one request of a hundred failing; memory, files, ledger and open
                  batches are judged. With --feed, one run in mode live goes on all the time
  --report FILE   where the report is written, too`;

const TEXT = { type: 'string' };
const FLAG = { type: 'boolean', default: false };
const DEFAULTS = { kills: 25, mixed: 0, seed: 1, rows: 1_000_000, workers: 3, pause: 12, 'at-once': 14, rate: 20 };
const WITH_FEED = { ...DEFAULTS, rows: 20_000, rate: 100 };
const WITH_SOAK = { ...DEFAULTS, rate: 1000 };

/** Throws with a message for people. */
export function optionsOf(args) {
  const { values } = parseArgs({
    args,
    options: {
      ...Object.fromEntries(
        [...Object.keys(DEFAULTS), 'feed', 'source', 'source-program', 'minutes', 'soak', 'report'].map((name) => [
          name,
          TEXT,
        ]),
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
  const { feed = null, source = 'postgres', 'source-program': sourceProgram } = values;
  if (!(source in SOURCES)) throw new Error(`--source must be ${Object.keys(SOURCES).join(', ')}, got ${source}`);
  if (feed === null && source !== 'postgres') throw new Error(`--source ${source} needs --feed table`);
  if (sourceProgram !== undefined && source !== 'postgres')
    throw new Error(`--source-program is for PostgreSQL only, and --source is ${source}`);
  const feeds = Object.keys(SOURCES[source].changes);
  if (feed !== null && !feeds.includes(feed))
    throw new Error(`--feed must be ${feeds.join(' or ')} with --source ${source}, got ${feed}`);
  const defaults = soak !== null ? WITH_SOAK : feed === null ? DEFAULTS : WITH_FEED;
  return {
    help: values.help,
    resume: values.resume,
    report: values.report,
    minutes: values.minutes === undefined ? Infinity : whole('minutes'),
    /** What the state file keeps. */
    kept: {
      ...Object.fromEntries(Object.entries(defaults).map(([name, otherwise]) => [name, whole(name, otherwise)])),
      feed,
      source,
      sourceProgram,
      quick: values.quick,
      soak,
    },
  };
}
