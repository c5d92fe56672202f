/**
 * The points of the code at which a campaign kills workers. Each is a place in a file of the product, given by text that the file
 * contains exactly once: the kill comes right before it. Nothing of this ships: a worker of a campaign loads its files through
 * `load-with-points.mjs`, which puts the points in.
 *
 * `ofFeed`: code that only runs with a change feed come to.
 */
export const POINTS = {
  'opening a run': { file: 'src/delivery/run/open-run.ts', before: 'await endAbandoned(' },
  'run opened': { file: 'src/delivery/run/open-run.ts', before: 'const order = runningOrder(' },
  'partitions planned': { file: 'src/delivery/run/plan-mapping.ts', before: 'return {\n    hold: null,' },
  'partition acquired': {
    file: 'src/delivery/partition-context.ts',
    before: 'const mapping = await sync.mapping(ref.mapping);',
    holds: 'partition',
  },
  'batches of a dead attempt found': { file: 'src/delivery/upload/recover-partition.ts', before: 'await allEnded(' },
  'batch of a dead attempt settled': {
    file: 'src/delivery/upload/recover-partition.ts',
    before: 'const counted = status === null ? null : provenByCounters(',
  },
  'page read': { file: 'src/reading/read-chunks.ts', before: 'chunk.add(page, ' },
  'chunk read and mapped': { file: 'src/delivery/partition-context.ts', before: 'yield next.value;' },
  claiming: { file: 'src/ledger/batches/claims.ts', before: 'const claimed = await inTransaction(' },
  'intents written, not committed': {
    file: 'src/ledger/batches/batch-intents.ts',
    before: 'return batches.map(({ records, tenantId }, i) =>',
  },
  claimed: { file: 'src/ledger/batches/claims.ts', before: 'inFlight.add(partition.mappingId, ' },
  'about to POST': { file: 'src/delivery/upload/post-batch.ts', before: 'isSent = true;' },
  'POST accepted, batch id not recorded': {
    file: 'src/delivery/upload/post-batch.ts',
    before: 'const recorded = deps.ledger.batches.markSent(',
  },
  'batch split': { file: 'src/delivery/upload/upload-batch.ts', before: 'unsent.replace(batch, halves);' },
  'batch id recorded': { file: 'src/delivery/upload/settle-batch.ts', before: 'const isPending = outcomes !== ' },
  'batch processed, outcomes not recorded': {
    file: 'src/delivery/upload/settle-batch.ts',
    before: 'if (processed && isAllAccepted(',
  },
  'checkpoint begun': { file: 'src/ledger/checkpoint/checkpoint.ts', before: 'await closeBatches(trx, ' },
  'checkpoint written, not committed': {
    file: 'src/ledger/checkpoint/checkpoint.ts',
    before: 'const resumePoint = resumePointOf(input);',
  },
  'checkpoint committed': { file: 'src/delivery/load/deliver-chunks.ts', before: 'rowsDone?.(rowsIn(chunk));' },
  'partition read to its end': {
    file: 'src/delivery/load/run-time-slice.ts',
    before: 'if (done) await deps.ledger.partitions.finish(',
  },
  'partition finished': {
    file: 'src/delivery/load/run-time-slice.ts',
    before: 'return await timeSliceResult(deps, ref, done);',
  },
  'waiting records polled': { file: 'src/delivery/pending/poll-batch.ts', before: 'const outcomeOf = (externalId' },
  'waiting records sent again': {
    file: 'src/delivery/pending/poll-mapping.ts',
    before: 'if (!shouldContinue()) return false;',
  },
  'vanished rows looked up': {
    file: 'src/delivery/removals/carry-out-plan.ts',
    before: 'const removed = vanished.map(',
  },
  'removals carried out': {
    file: 'src/delivery/removals/remove-vanished.ts',
    before: 'if (result.done) await removals.finish(',
  },
  'changes read, not recorded': {
    file: 'src/delivery/run/feed-reader.ts',
    before: 'const changes = changesOf(group, ',
    ofFeed: true,
  },
  'changes recorded, not committed': {
    file: 'src/ledger/changes/feeds.ts',
    before: 'const unnamed = (what',
    ofFeed: true,
  },
  'changes recorded, not confirmed': {
    file: 'src/delivery/run/feed-reader.ts',
    before: 'const confirmed = await this.#feed.confirm(position);',
    ofFeed: true,
  },
  'changes confirmed': {
    file: 'src/delivery/run/feed-reader.ts',
    before: 'this.#unconfirmed = 0;',
    ofFeed: true,
  },
  'changed rows read': {
    file: 'src/delivery/load/changed-rows.ts',
    before: 'const looked = changed.map(',
    ofFeed: true,
  },
  'records of rows that are gone planned': {
    file: 'src/delivery/load/changed-rows.ts',
    before: 'const settled = looked.filter(',
    ofFeed: true,
  },
  'changed rows taken off, not committed': {
    file: 'src/ledger/changes/changed-rows.ts',
    before: 'if (gone.length > 0)',
    ofFeed: true,
  },
  'live slice ended': {
    file: 'src/delivery/live/follow-changes.ts',
    before: 'return {\n    progress: await ',
    ofFeed: true,
  },
  'closing a run': { file: 'src/delivery/run/close-run.ts', before: 'await ledger.runs.end(' },
  'run closed': { file: 'src/delivery/run/close-run.ts', before: 'await ledger.runs.keepReport(' },
};

/** The points that a campaign can come to. @param options those of the campaign */
export const pointsFor = ({ feed }) => Object.keys(POINTS).filter((name) => !(feed === null && POINTS[name].ofFeed));

/** The built file of a source file. */
export const builtFileOf = (file) => `dist/${file.replace(/\.ts$/, '.js')}`;

/**
 * The text of a file with its points put in.
 *
 * @param {string} file as in {@link POINTS}
 * @throws if the file does not have the text of one of its points exactly once
 */
export function withPoints(file, text) {
  let marked = text;
  for (const [name, point] of Object.entries(POINTS)) {
    if (point.file !== file) continue;
    // The compiler indents by other widths, and leaves the order of words as it is.
    const place = new RegExp(point.before.split(/\s+/).map(escaped).join('\\s+'), 'g');
    const found = marked.match(place)?.length ?? 0;
    if (found !== 1) throw new Error(`${file} has the text of the point "${name}" ${found} times: ${point.before}`);
    marked = marked.replace(place, (code, at) => {
      // In the middle of a statement, a call would take its place: `const x = call(); await work();`.
      if (!/(^|[;{}]|\*\/)\s*$/.test(marked.slice(Math.max(0, at - 200), at)))
        throw new Error(`${file}: the point "${name}" is not before a whole statement: ${point.before}`);
      return `${callOf(name, point)}${code}`;
    });
  }
  return marked;
}

const callOf = (name, { holds }) =>
  `globalThis.campaignPoint(${JSON.stringify(name)}${holds === undefined ? '' : `, ${holds}`}); `;

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
