/** Entry of the thread that reads sources and maps their rows. */
import { parentPort } from 'node:worker_threads';
import type { Page } from '../../domain/source.js';
import type { Group } from '../group.js';
import { mappedReading, type MappedReading } from '../mapped-reading.js';
import { openReader, type Reader } from '../reader.js';
import { connect } from './calls.js';
import type { OwnerAnswers, SentMapping, ThreadAnswers } from './messages.js';

/** Compiled mappings that are kept: a sync has some dozens, and each run its own where the tenants are in a table. */
const MAPPINGS_KEPT = 100;

const readers = new Map<number, Reader>();
const mappings = new Map<number, MappedReading>();
/** `hashed`: the ledger keeps the records, and the thread that asks for them has better things to do than to hash them. */
const underWay = new Map<number, { readonly groups: AsyncGenerator<Group>; readonly hashed: boolean }>();

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
    const groups = readers.get(reader)!.groups(compiled(mapping), range, () => ask('stamp', id));
    underWay.set(id, { groups, hashed: mapping.spec.options.ledger === 'full' });
  },
  async next(id) {
    const { groups, hashed } = underWay.get(id)!;
    const next = await groups.next();
    if (next.done === true) return null;
    return { ...next.value, records: next.value.records.send(hashed) };
  },
  async end(id) {
    const { groups } = underWay.get(id)!;
    underWay.delete(id);
    await groups.return(undefined);
  },
});
