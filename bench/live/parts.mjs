/** The parts of `npm run bench -- --live`. Each returns the lines of the table, and what was wrong. */
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile, staleRows } from './arrivals.mjs';
import { startStage } from './stage.mjs';

/** The writer's first seconds are delivered and verified, but not measured: V8 still compiles the worker's code. */
const WARM_UP_S = 10;
/** Before the CPU of programs that do nothing is measured. */
const REST_MS = 20_000;
/** After an outage, everything that arrives later than this counts as not caught up. */
const LATE_MS = 5000;
/** How long the source is written after an outage. */
const AFTER_OUTAGE_S = 90;
const MINUTE_MS = 60_000;

export const PARTS = { latency, idle, outage, backfill, cost };

const seconds = (ms) => ms / 1000;

/** From the commit of a change to the platform's acceptance. */
async function latency(bench) {
  const { rate, minutes } = bench.options;
  return onStage(bench, { size: 'tiny', isFed: true }, async (stage) => {
    const end = await stage.follow();
    const written = await writing(stage, rate, WARM_UP_S + minutes * 60);
    await stage.caughtUp();
    const arrived = await verified(stage);
    const late = latencies(arrived, written.began + WARM_UP_S * 1000);
    const targets = rate > 200 ? [null, 5, null] : [1, 2, 4];
    const at = `at ${rate} changes/s`;
    const halves = [late.slice(0, late.length / 2), late.slice(late.length / 2)].map((half) => percentile(half, 0.95));
    return {
      problems: [...arrived.problems, ...(await problemsOfEnd(end))],
      lines: [
        line(`latency ${at}, p50`, 's', seconds(percentile(late, 0.5)), targets[0]),
        line(`latency ${at}, p95`, 's', seconds(percentile(late, 0.95)), targets[1]),
        line(`latency ${at}, p99`, 's', seconds(percentile(late, 0.99)), targets[2]),
        line(`latency ${at}, longest`, 's', seconds(percentile(late, 1))),
        line(`latency ${at}, p95 of the first half`, 's', seconds(halves[0])),
        line(`latency ${at}, p95 of the second half`, 's', seconds(halves[1])),
        line('written', 'changes/s', written.perSecond),
        ...cpuLines(written.cpu, written.seconds, at),
      ],
    };
  });
}

/** What following a source costs in which nothing changes. */
async function idle(bench) {
  return onStage(bench, { size: 'tiny', isFed: true }, async (stage) => {
    const end = await stage.follow();
    await writing(stage, 100, WARM_UP_S);
    await stage.caughtUp();
    await sleep(REST_MS);
    const before = stage.cpu();
    const began = performance.now();
    await sleep(bench.options.idleSeconds * 1000);
    const used = difference(stage.cpu(), before);
    const took = seconds(performance.now() - began);
    const percent = (cpu) => (cpu / took) * 100;
    return {
      problems: await problemsOfEnd(end),
      lines: [
        line('idle: worker and source', '% of a core', percent(used.worker + used.source), 2),
        ...cpuLines(used, took, 'while idle'),
      ],
    };
  });
}

/** How soon all is delivered after the platform was away. */
async function outage(bench) {
  const { rate, outageMinutes } = bench.options;
  return onStage(bench, { size: 'tiny', isFed: true }, async (stage) => {
    const end = await stage.follow();
    const writes = writing(stage, rate, WARM_UP_S + outageMinutes * 60 + AFTER_OUTAGE_S);
    await sleep(WARM_UP_S * 1000);
    await stage.sink.outage(true);
    await sleep(outageMinutes * MINUTE_MS);
    await stage.sink.outage(false);
    const over = Date.now();
    await writes;
    await stage.caughtUp();
    const arrived = await verified(stage);
    const late = arrived.commits
      .filter(({ at, acceptedAt }) => acceptedAt > over && acceptedAt - at > LATE_MS)
      .map(({ acceptedAt }) => acceptedAt)
      .sort((a, b) => a - b);
    const [first, last] = [late[0] ?? over, late.at(-1) ?? over];
    return {
      problems: [...arrived.problems, ...(await problemsOfEnd(end))],
      lines: [
        line(`after an outage of ${outageMinutes} min at ${rate} changes/s: first record`, 's', seconds(first - over)),
        line('the same: caught up', 's', seconds(last - over), 60),
      ],
    };
  });
}

/** How soon changes arrive while a backfill sends all records of the same mapping. */
async function backfill(bench) {
  const { rate, size } = bench.options;
  return onStage(bench, { size, isFed: true }, async (stage) => {
    const endFirst = await stage.follow();
    const problems = await problemsOfEnd(endFirst);
    stage.changeMapping();
    const end = await stage.follow();
    const writer = await stage.write(rate, 24 * 3600);
    const written = Date.now();
    await sleep(WARM_UP_S * 1000);
    const began = performance.now();
    const report = JSON.parse(await stage.command('backfill', 'bench', '--mapping', 'customers', '--json'));
    const took = seconds(performance.now() - began);
    const over = Date.now();
    await sleep(5000);
    await writer.stop();
    await stage.caughtUp();
    const arrived = await verified(stage);
    const beside = { ...arrived, commits: arrived.commits.filter(({ at }) => at < over) };
    const late = latencies(beside, written + WARM_UP_S * 1000);
    const rows = report.mappings.reduce((sum, { read }) => sum + read, 0);
    return {
      problems: [...problems, ...arrived.problems, ...(await problemsOfEnd(end))],
      lines: [
        line('backfill: rows', 'rows', rows),
        line('backfill: rows a second', 'rows/s', rows / took),
        line(`beside the backfill, at ${rate} changes/s: p50`, 's', seconds(percentile(late, 0.5))),
        line(`beside the backfill, at ${rate} changes/s: p95`, 's', seconds(percentile(late, 0.95)), 10),
        line(`beside the backfill, at ${rate} changes/s: longest`, 's', seconds(percentile(late, 1))),
      ],
    };
  });
}

/** What a change costs the source: nobody reads it, it is followed, and it is read each minute by a cursor. */
async function cost(bench) {
  const { rate, minutes } = bench.options;
  const measured = (isFed, read) =>
    onStage(bench, { size: 'tiny', isFed }, async (stage) => {
      const finish = await read(stage);
      await sleep(2000);
      const before = stage.cpu();
      const ticks = finish.each ? finish.each() : null;
      const { writes } = await writing(stage, rate, minutes * 60);
      await ticks?.stop();
      if (finish.isDelivering) await stage.caughtUp();
      const used = difference(stage.cpu(), before);
      const problems = finish.isDelivering ? (await verified(stage)).problems : [];
      await finish.end?.();
      return { problems, perChange: (used.source / writes) * 1e6 };
    });
  const alone = await measured(false, async () => ({}));
  const live = await measured(true, async (stage) => ({ isDelivering: true, end: await stage.follow() }));
  const cursor = await measured(false, async (stage) => {
    await stage.command('run', 'bench', '--mode', 'full', '--json');
    return {
      isDelivering: true,
      each: () => eachMinute(() => stage.command('run', 'bench', '--mode', 'incremental', '--json')),
    };
  });
  const more = ({ perChange }) => Math.max(0, perChange - alone.perChange);
  return {
    problems: [...live.problems, ...cursor.problems],
    lines: [
      line(`source's CPU a change at ${rate} changes/s: the writes themselves`, 'µs', alone.perChange),
      line('the same: what mode live adds', 'µs', more(live)),
      line('the same: what an incremental run each minute adds', 'µs', more(cursor)),
    ],
  };
}

/** Does the work each minute, and once more when it is stopped. */
function eachMinute(work) {
  let isOver = false;
  const stopped = new AbortController();
  const loop = (async () => {
    while (true) {
      await sleep(MINUTE_MS, undefined, { signal: stopped.signal }).catch(() => undefined);
      if (isOver) return;
      await work();
    }
  })();
  return {
    async stop() {
      isOver = true;
      stopped.abort();
      await loop;
      await work();
    },
  };
}

async function onStage(bench, what, work) {
  const stage = await startStage(bench, what);
  try {
    return await work(stage);
  } finally {
    await bench.owned.stop(stage);
  }
}

/** Writes for so many seconds, and measures meanwhile. */
async function writing(stage, rate, duration) {
  const before = stage.cpu();
  const began = Date.now();
  const writer = await stage.write(rate, duration);
  const code = await writer.ended;
  if (code !== 0) throw new Error(`the writer ended with ${code}${writer.tail()}`);
  const { writes, seconds: took } = JSON.parse(writer.output());
  return { began, writes, seconds: took, perSecond: writes / took, cpu: difference(stage.cpu(), before) };
}

/** The arrivals, and whether each version has arrived, and the newest one last. */
async function verified(stage) {
  const { commits, last } = await stage.arrivals();
  const lost = commits.filter(({ acceptedAt }) => acceptedAt === null);
  const { rows, stale } = await staleRows(stage.sourceUrl, last);
  const bad = Object.values(await stage.sink.stats()).filter((each) => each?.bad > 0 || each?.noId > 0);
  return {
    commits,
    problems: [
      ...(lost.length === 0 ? [] : [`${lost.length} of ${commits.length} changes have not arrived: ${lost[0].key}`]),
      ...(stale.length === 0 ? [] : [`${stale.length} of ${rows} records are not as in the source: ${stale[0]}`]),
      ...(rows === 0 ? ['nothing was written'] : []),
      ...(bad.length === 0 ? [] : ['the sink has received what it could not read']),
    ],
  };
}

/** Milliseconds from commit to acceptance, in the order of the commits, from `since` on. */
const latencies = ({ commits }, since) =>
  commits
    .filter(({ at, acceptedAt }) => at >= since && acceptedAt !== null)
    .map(({ at, acceptedAt }) => acceptedAt - at);

async function problemsOfEnd(end) {
  const { outcome } = await end();
  return outcome === 'complete' ? [] : [`the run in mode live ended as ${outcome}`];
}

const difference = (after, before) =>
  Object.fromEntries(Object.keys(after).map((name) => [name, after[name] - before[name]]));

const cpuLines = (used, took, when) =>
  Object.entries(used).map(([name, cpu]) => line(`CPU ${when}: ${name}`, '% of a core', (cpu / took) * 100));

/** A line of the table; `target` is what the value should stay below. */
const line = (what, unit, value, target = null) => ({ what, unit, value, target });
