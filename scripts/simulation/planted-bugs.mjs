/**
 * Bugs that the simulation must find, each as a replacement of text in one module: file, text, and what stands there instead.
 * None of them ships; the text must be in its file exactly once, so that a bug cannot come to nothing unnoticed.
 */
export const PLANTED_BUGS = {
  'the fencing token is ignored': [
    'src/ledger/runs/partitions.ts',
    'FROM run WHERE id = ? AND fencing_token = ?`',
    'FROM run WHERE id = ? AND CAST(? AS bigint) IS NOT NULL`',
  ],
  'taking a partition over raises no fencing token': [
    'src/ledger/runs/partitions.ts',
    'UPDATE partitions SET fencing_token = fencing_token + 1, started_at = coalesce(started_at, now()),',
    'UPDATE partitions SET fencing_token = greatest(fencing_token, 1), started_at = coalesce(started_at, now()),',
  ],
  'read sequence numbers are not compared': [
    'src/ledger/batches/claims.ts',
    "return known.readSeq > Number(readSeqStart) ? 'contended' : undefined;",
    'return undefined;',
  ],
  'open batches hold nothing': [
    'src/ledger/batches/in-flight-records.ts',
    'if (batches.size > 0) for (const index of keysIn(',
    'if (batches.size > 1e9) for (const index of keysIn(',
  ],
  'unchanged records are not noted beside another run': [
    'src/ledger/batches/claims.ts',
    'const isConcurrent = await lockClaims(trx, partition);',
    'const isConcurrent = (await lockClaims(trx, partition)) && false;',
  ],
  'what is read of pending records is not noted beside another run': [
    'src/ledger/batches/claims.ts',
    '(entry.contentHash === contentHash || pending.has(index))',
    'entry.contentHash === contentHash',
  ],
  'a rejection decides although an earlier copy is in doubt': [
    'src/ledger/batches/batches.ts',
    'if (partition.keepsRecords) await writeUnknown(',
    'if (partition.keepsRecords && false) await writeUnknown(',
  ],
  'every record that was accepted once counts as unchanged': [
    'src/ledger/batches/claims.ts',
    'if (isUpToDate(own, known.contentHash)) return',
    'if (isUpToDate(own, known.contentHash) || known.contentHash !== null) return',
  ],
  'the tenant is left out of the key of claims': [
    'src/ledger/batches/claims.ts',
    'tenantId = numbers.get(tenant)!;',
    'tenantId = [...numbers.values()][0]!;',
  ],
  'a batch goes to another tenant': [
    'src/delivery/upload/post-batch.ts',
    "tenant: batch.tenant,\n    // The intent's age",
    "tenant: context.sync.spec.tenant.kind === 'column' ? [...context.sync.spec.tenant.values.values()][0] : '',\n    // The intent's age",
  ],
  'no run reads rows that lie far ahead': [
    'src/delivery/run/partitions-of.ts',
    'isBehind ? [upToClock, farAhead] : [farAhead]',
    'isBehind ? [upToClock] : []',
  ],
  'rows above a high watermark that stays behind wait for the next run': [
    'src/delivery/run/partitions-of.ts',
    'isBehind ? [upToClock, farAhead] : [farAhead]',
    '[farAhead]',
  ],
  'what was read above the high watermark moves the position': [
    'src/delivery/run/partitions-of.ts',
    'if (rows.length > 0) found.push({ ...BY_CURSOR, ...range });',
    'if (rows.length > 0) found.push({ ...BY_CURSOR, ...range, movesPosition: true });',
  ],
  'nobody waits after a lost response': [
    'src/delivery/upload/post-batch.ts',
    '  await noteDoubt(context, batch);\n  return backoffMs(before);',
    '  return backoffMs(before);',
  ],
  'an old intent is not renewed before it is sent': [
    'src/delivery/upload/post-batch.ts',
    'if (Date.now() - batch.intendedAt > postTimeoutMs(',
    'if (Date.now() < 0 && 0 > postTimeoutMs(',
  ],
  'a refused batch is halved, and the last record dropped': [
    'src/delivery/upload/upload-batch.ts',
    'batch.records.slice(middle),',
    'batch.records.slice(middle, -1),',
  ],
  'the second half of a refused batch is not sent': [
    'src/delivery/upload/upload-batch.ts',
    'for (const half of halves) results.push(',
    'for (const half of halves.slice(0, 1)) results.push(',
  ],
  'a batch in doubt is released at once': [
    'src/delivery/upload/recover-partition.ts',
    'const inDoubtFor = Math.max(0, longestInDoubt(sync) - batch.age / 1000);',
    'const inDoubtFor = 0 * longestInDoubt(sync);',
  ],
  'a batch in doubt counts as accepted': [
    'src/delivery/upload/recover-partition.ts',
    "outcomes: outcomesOf(batch, () => 'unknown'),",
    "outcomes: outcomesOf(batch, () => 'accepted'),",
  ],
  'children that the platform may keep are forgotten with their worker': [
    'src/delivery/upload/dependency-wait.ts',
    'referencesOf(spec.schema.schema).length > 0 ? spec.options.dependencyWaitTimeout : 0',
    'referencesOf(spec.schema.schema).length > 1000 ? spec.options.dependencyWaitTimeout : 0',
  ],
  'recovery forgets a batch': [
    'src/delivery/upload/recover-partition.ts',
    'open.map((batch) => {',
    'open.slice(1).map((batch) => {',
  ],
  'records that failed count as accepted': [
    'src/delivery/upload/batch-status.ts',
    "? 'rejected'\n        : null;",
    "? 'accepted'\n        : 'accepted';",
  ],
  'chunks are finished in any order': [
    'src/delivery/load/chunks-in-order.ts',
    'await Promise.allSettled([before, delivery]);',
    'await Promise.allSettled([Promise.resolve(), delivery]);',
  ],
  'the position moves before the outcomes are written': [
    'src/ledger/checkpoint/checkpoint.ts',
    'return inTransaction(knex, async (trx) => {\n    await lockPartition(trx, partition);\n    if (result.waiting.length > 0)',
    `return inTransaction({ transaction: async (work) => {
      const early = resumePointOf(input);
      if (early !== null) await moveResumePoint(knex, partition, early);
      return knex.transaction(work);
    } }, async (trx) => {
    await lockPartition(trx, partition);
    if (result.waiting.length > 0)`,
  ],
  'the position moves past what was read': [
    'src/delivery/run/partitions-of.ts',
    'const changed = { ...BY_CURSOR, movesPosition: true, reads, cursorFrom, cursorBefore };',
    'const changed = { ...BY_CURSOR, movesPosition: true, reads, cursorFrom, cursorBefore: null };',
  ],
  'a short page counts as the last one': [
    'src/reading/read-chunks.ts',
    'if (last === undefined) break;',
    'if (last === undefined || (position !== null && page.rows.length < 2)) break;',
  ],
  'a page begins at the first row of the one before': [
    'src/reading/read-chunks.ts',
    'position = positionOf(last);',
    'position = positionOf(page.rows.at(0)!);',
  ],
  'a read sequence number is drawn once the rows have been read': [
    'src/reading/read-chunks.ts',
    'if (isLast) readSeqStart = await nextReadSeq();\n      next = readAhead();',
    'next = readAhead();\n      await next.catch(() => undefined);\n      if (isLast) readSeqStart = await nextReadSeq();',
  ],
  'a change is forgotten while its record is pending': [
    'src/ledger/waiting/pending-entries.ts',
    ' OR w.content_hash IS DISTINCT FROM i.hash,',
    ',',
  ],
  'waiting entries stay when their rows are delivered': [
    'src/ledger/checkpoint/checkpoint.ts',
    'const ended = await endWaiting(trx, partition, read, result, existing.waiting);',
    'const ended = await endWaiting(trx, partition, read, result, false);',
  ],
  'dead letters stay when their rows are delivered': [
    'src/ledger/checkpoint/checkpoint.ts',
    'if (existing.deadLetters) await closeDeadLetters(',
    'if (existing.deadLetters && false) await closeDeadLetters(',
  ],
  'an expired record counts as accepted': [
    'src/delivery/pending/poll-batch.ts',
    "    return 'dropped';\n  };",
    "    return 'accepted';\n  };",
  ],
  'a dead letter of a child whose parent came is left': [
    'src/delivery/pending/poll-mapping.ts',
    'return retryDeadLetteredChildren(context, shouldContinue);',
    'return true;',
  ],
  'a child that was rejected just before its parent came is not sent again': [
    'src/delivery/chunk/chunk-result.ts',
    'if (outcome.lateParents.length > 0 && retry?.hasParents(record) !== true)',
    'if (outcome.lateParents.length > 1000)',
  ],
  'rows that moved to another tenant are not vanished': [
    'src/delivery/without-row.ts',
    'const there = new Set(results.map((r) => nameOf(r.tenant, r.externalId)));',
    'const there = new Set(results.flatMap((r) => sure.filter((s) => s.externalId === r.externalId).map((s) => nameOf(s.tenant, s.externalId))));',
  ],
  'a deleted row is settled although a row that cannot be mapped may be its own': [
    'src/delivery/without-row.ts',
    'uncertain: [...missed.filter(mayBeThere), ...unsure] };',
    'uncertain: unsure };',
  ],
  'changes are confirmed before they are in the ledger': [
    'src/delivery/run/feed-reader.ts',
    'let last: FeedPosition | null = null;',
    'let last: FeedPosition | null = null;\n    await this.#feed.confirm({ ...before, at: String(Number(before.at) + 1_000_000) });',
  ],
  'changes are not recorded if the position need not be': [
    'src/delivery/run/feed-reader.ts',
    'writes ||= changes.length > 0;',
    '',
  ],
  'a record that the platform keeps, and never had before, is found by no search': [
    'src/delivery/chunk/chunk-result.ts',
    "this.#noteSent(record, 'pending');",
    '',
  ],
  'a live run is complete though it has never read its feed': [
    'src/delivery/run/left-by-live-run.ts',
    'fed?.loaded === true && fed.readAt >= startedAt',
    'fed?.loaded === true',
  ],
  'a live run that has begun no partition is complete': [
    'src/delivery/run/left-by-live-run.ts',
    'mappingIds.push(mappingId);',
    'if ((await ledger.partitions.planned(id, mappingId)).length > 0) mappingIds.push(mappingId);',
  ],
  'a dead letter ends what the platform may keep': [
    'src/ledger/waiting/apply-outcomes.ts',
    'entry.isInDoubt && isOnPlatform ?',
    'entry.isInDoubt && (isOnPlatform || true) ?',
  ],
  'a run trusts what it has sent before its load was void': [
    'src/ledger/changes/feeds.ts',
    'return fed === undefined || fed.run === runId;',
    'return fed === undefined || runId !== "";',
  ],
  'a mapping that lost its feed while it was searched is not loaded again': [
    'src/delivery/live/live-delivery.ts',
    'if (!isLast && !loading.includes(mapping.name))',
    'if (!isLast && !loading.includes(mapping.name) && !searching.includes(mapping.name))',
  ],
  'a frozen attempt ends a removal plan that was opened again': [
    'src/ledger/removals.ts',
    "(p.run_id, p.mapping_id, 'removals') AND NOT r.done)",
    "(p.run_id, p.mapping_id, 'removals') AND r.done IS NULL)",
  ],
  'parents are read before the run counts as one that reads their mapping': [
    'src/delivery/parents/look-up-parents.ts',
    'await deps.ledger.partitions.forRowsByKey(partition.runId, mapping.mappingId);',
    '',
  ],
  'a removal plan that is opened again is carried out from where it ended': [
    'src/ledger/removals.ts',
    '.update({ resume_key: null, done: false });',
    '.update({ done: false });',
  ],
  'a live run is complete before every row was read': [
    'src/delivery/run/left-by-live-run.ts',
    'if (waiting + changedRows + unfinished.length > 0)',
    'if (waiting + changedRows > 0)',
  ],
  'a deleted row is settled although another run may have read it': [
    'src/delivery/load/rows-to-remove.ts',
    'const leftToRuns = through === null ? null :',
    "const leftToRuns = through !== '' ? null :",
  ],
  'a deleted row is settled before its record is removed': [
    'src/delivery/load/rows-to-remove.ts',
    'return { left: new Set([...undecided, ...removed.map(({ row }) => row.seq)]), planned, leftToRuns };',
    'return { left: undecided, planned, leftToRuns };',
  ],
  'a mapping goes by its feed before every row was read': [
    'src/ledger/changes/feeds.ts',
    'AND (SELECT bool_and(done) FROM partitions',
    'AND (SELECT bool_or(done) FROM partitions',
  ],
  'a run goes on with a load although it does not read what has changed meanwhile': [
    'src/delivery/run/plan-mapping.ts',
    "plan.mode === 'live' ? null : {",
    'plan.mode !== null ? null : {',
  ],
  'after changes were lost, the feed goes on as if nothing had happened': [
    'src/ledger/changes/feeds.ts',
    'SET ${NOT_LOADED}\n           WHERE feed = ?',
    'SET loaded = loaded\n           WHERE feed = ?',
  ],
  'rows that were deleted while changes were lost are not looked for': [
    'src/ledger/changes/feeds.ts',
    'SET ${NOT_LOADED}\n           WHERE feed = ?',
    'SET loaded = false, load_run_id = NULL\n           WHERE feed = ?',
  ],
  'a mark that the platform refuses is a dead letter though there is no record': [
    'src/delivery/upload/not-stored.ts',
    'if (stored === null) return isProcessed && marksAsDeleted(record) ?',
    'if (stored === null) return isProcessed && marksAsDeleted(record) && record.externalId === null ?',
  ],
  'a continued run leaves out the rest of a stage': [
    'workflows/load-stage.ts',
    '{ stagesDone: stage }',
    '{ stagesDone: stage + 1 }',
  ],
  'a run with waiting records is called complete': [
    'src/domain/run/run.ts',
    'if (mappings.some((m) => !isBalanced(m) || m.waiting !== 0 || m.undelivered.waiting !== 0)) return',
    'if (mappings.some((m) => !isBalanced(m) && m.waiting > 1e9)) return',
  ],
  'a lost lease is taken while its run works': [
    'src/observability/is-running.ts',
    "if (latest.status.name !== 'RUNNING') return false;",
    "if (latest.status.name !== 'RUNNING' || latest.runId !== '') return false;",
  ],
  'a batch in doubt stays open once its records were all sent again': [
    'src/ledger/waiting/waiting.ts',
    "(await knex('batches').where({ mapping_id: mappingId, state: 'pending' }).first('id')) !== undefined",
    'false',
  ],
  'a row that has come back is taken for a duplicate of its removal': [
    'src/delivery/chunk/duplicate-ids.ts',
    'if (record.deletion !== undefined) continue;',
    '',
  ],
};
