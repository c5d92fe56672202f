/** Entry of the thread that reads sources and maps their rows. */
import { parentPort } from 'node:worker_threads';
import type { Page } from '../../domain/source.js';
import { oneAfterTheOther, type Group } from '../group.js';
import { mappedReading, type MappedReading } from '../mapped-reading.js';
import { openReader, type Reader } from '../reader.js';
import { connect } from './calls.js';
import type { OwnerAnswers, SentMapping, ThreadAnswers } from './messages.js';

/** Compiled mappings that are kept: a sync has some dozens, and each run its own where the tenants are in a table. */
const MAPPINGS_KEPT = 100;

const readers = new Map<number, Reader>();
const mappings = new Map<number, MappedReading>();
/** `kept`: by the ledger, which needs their content hashes. */
const underWay = new Map<number, { readonly groups: AsyncGenerator<Group>; readonly kept: boolean }>();

/** Milliseconds without work after which this thread has time: the one that it works for waits for the platform, not for rows. */
const IDLE = 10;
/** How many groups are asked for now, and since when none was. */
let asked = 0;
let idleSince = 0;
const hasTime = (): boolean => asked === 0 && performance.now() - idleSince > IDLE;

/** Rows may be bytes yet, of which only this thread can make texts. */
const copyable = (answer: unknown): unknown =>
  typeof answer === 'object' && answer !== null && 'rows' in answer
    ? { ...answer, rows: [...(answer as Page).rows] }
    : answer;

function compiled({ id, spec, tenant }: SentMapping): MappedReading {
  const mapping = mappings.get(id) ?? mappedReading(spec, tenant);
  mappings.delete(id);
  mappings.set(id, mapping);
  if (mappings.size > MAPPINGS_KEPT) mappings.delete(mappings.keys().next().value!);
  return mapping;
}

const { ask } = connect<OwnerAnswers, ThreadAnswers>(parentPort!, {
  open: (reader, config) => void readers.set(reader, openReader(config)),
  async source(reader, method, args) {
    const source = readers.get(reader)!.source as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    return copyable(await source[method]!(...args));
  },
  async close(reader) {
    const { source } = readers.get(reader)!;
    readers.delete(reader);
    await source.close();
  },
  begin(id, reader, mapping, range) {
    const stamp = () => ask('stamp', id);
    // A group has been copied to the other thread before the next one is asked for.
    const groups = readers.get(reader)!.groups(compiled(mapping), range, stamp, oneAfterTheOther());
    underWay.set(id, { groups, kept: mapping.spec.options.ledger === 'full' });
  },
  async next(id) {
    const { groups, kept } = underWay.get(id)!;
    // Hashing takes as long as mapping: it is done by the thread that has time.
    const hashed = kept && hasTime();
    asked++;
    try {
      const next = await groups.next();
      if (next.done === true) return null;
      const { records, letters } = next.value;
      return { ...next.value, records: records.send(hashed), letters: letters.send() };
    } finally {
      asked--;
      idleSince = performance.now();
    }
  },
  async end(id) {
    const { groups } = underWay.get(id)!;
    underWay.delete(id);
    await groups.return(undefined);
  },
});
