/**
 * npm run bench -- --live [--only latency,idle,outage,backfill,cost] [--rate N] [--minutes N] [--idle-seconds N]
 *   [--outage-minutes N] [--rows small|full]
 *
 * Measures mode `live`: how soon changes arrive, and what it costs to follow them. See README.md.
 */
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { withClient } from '../scripts/with-client.mjs';
import { PARTS } from './live/parts.mjs';
import { machineCpu } from './measure.mjs';
import { describeMachine, machineLine } from './report.mjs';
import { BENCH, LOGS, buildSink, startLogicalSource, temporalVersion } from './services.mjs';
import { SIZES } from './source.mjs';

/** Measures what the arguments ask for, prints the table, and returns a result for each part. */
export async function measureLive(args, owned, log) {
  const options = optionsOf(args);
  buildSink(log);
  const machine = describeMachine({ postgres: await sourceVersion(owned, log), temporal: await temporalVersion(log) });
  const file = join(BENCH, 'results', `${new Date().toISOString().replaceAll(':', '')}-live.jsonl`);
  mkdirSync(join(BENCH, 'results'), { recursive: true });
  const keep = (line) => appendFileSync(file, `${JSON.stringify(line)}\n`);
  keep({ machine, ...options });
  const results = [];
  for (const name of options.only) {
    const [before, began] = [machineCpu(), performance.now()];
    const { lines, problems } = await PARTS[name]({ owned, options, log });
    const took = (performance.now() - began) / 1000;
    const after = machineCpu();
    const busy = (after.busy + after.steal - before.busy - before.steal) / (took * machine.cores);
    const result = { at: new Date().toISOString(), part: name, ok: problems.length === 0, problems, lines, took, busy };
    results.push(result);
    keep(result);
    log(tableOf([result]));
  }
  console.log(`${machineLine(machine)}\n\n${tableOf(results)}`);
  log(`raw results: ${file}\nlogs: ${LOGS}`);
  return results;
}

async function sourceVersion(owned, log) {
  const source = await owned.start(() => startLogicalSource(log));
  const { rows } = await withClient(source.url('postgres'), (client) => client.query('SHOW server_version'));
  await owned.stop(source);
  return rows[0].server_version;
}

/** Parses and checks the command line; throws with the accepted values. */
function optionsOf(args) {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', default: 'latency,idle,outage,backfill' },
      rate: { type: 'string', default: '200' },
      minutes: { type: 'string', default: '2' },
      'idle-seconds': { type: 'string', default: '60' },
      'outage-minutes': { type: 'string', default: '1' },
      rows: { type: 'string', default: 'small' },
    },
  });
  const only = values.only.split(',');
  const unknown = only.filter((name) => !Object.hasOwn(PARTS, name));
  if (unknown.length) throw new Error(`--only ${unknown}: there are ${Object.keys(PARTS).join(', ')}`);
  if (!Object.hasOwn(SIZES, values.rows)) throw new Error(`--rows ${values.rows}: ${Object.keys(SIZES).join(', ')}`);
  const number = (name) => {
    if (/^\d+(\.\d+)?$/.test(values[name]) && Number(values[name]) > 0) return Number(values[name]);
    throw new Error(`--${name} ${values[name]}: a number above 0`);
  };
  return {
    only,
    size: values.rows,
    rate: number('rate'),
    minutes: number('minutes'),
    idleSeconds: number('idle-seconds'),
    outageMinutes: number('outage-minutes'),
  };
}

/** The table: what was measured, and whether it is as good as it should be; and below it, what was wrong. */
function tableOf(results) {
  const row = (cells) => `| ${cells.join(' | ')} |`;
  const lines = results.flatMap(({ lines: all }) =>
    all.map(({ what, unit, value, target }) =>
      row([
        what,
        `${figure(value)} ${unit}`,
        target === null ? '' : `under ${target}`,
        target === null ? '' : value < target ? 'yes' : 'NO',
      ]),
    ),
  );
  const notes = results.flatMap(({ part, problems, took, busy }) => [
    `- ${part}: ${Math.round(took)} s, the machine was busy for ${Math.round(busy * 100)} % of it`,
    ...problems.map((problem) => `- NOT OK: ${part}: ${problem}`),
  ]);
  return [
    row(['what', 'measured', 'target', 'reached']),
    row(['---', '--:', '--:', '---']),
    ...lines,
    '',
    ...notes,
  ].join('\n');
}

const figure = (value) => (Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(2));
