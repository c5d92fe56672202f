/** What mutation testing tries, in this order: files, the tests that reach them and need no server, and the least share to be found. */

/** The tests of what becomes of values and rows. */
const VALUES =
  'test/mapping/{values,byte-copies,records,record-list,external-ids,transforms,deletes,long-values,local-time,tenants}.test.ts';

const encode = (name) => `src/mapping/encode/${name}.ts`;

/** The ledger's own tests, without one that takes long and is of speed. */
const LEDGER = ['test/ledger/!(year).test.ts'];

/** The tests of delivery: that of recovery replaces modules for all that its process loads, and that of bad responses takes long. */
const DELIVERY = ['test/delivery/!(recover-partition|bad-responses).test.ts'];

const inDelivery = (folder, names) => names.map((name) => `src/delivery/${folder}/${name}.ts`);

const inLedger = (folder, names) => names.map((name) => `src/ledger/${folder}${name}.ts`);

/**
 * `sql`: the SQL of these files is changed, and nothing else. `servers`: the tests need the servers that test/servers.ts starts.
 *
 * @type {readonly { files: readonly string[], tests: readonly string[], aim: number, sql?: true, servers?: true }[]}
 */
export const TARGETS = [
  {
    files: ['src/mapping/compile/tenant-reader.ts', 'src/reading/read-tenant-list.ts'],
    tests: ['test/mapping/tenants.test.ts', 'test/reading/tenant-list.test.ts'],
    aim: 95,
  },
  {
    files: [
      'src/delivery/upload/cut-batches.ts',
      'src/delivery/chunk/split-duplicates.ts',
      'src/delivery/upload/named-failures.ts',
    ],
    tests: ['test/delivery/{cut-batches,split-duplicates,named-failures}.test.ts'],
    aim: 90,
  },
  {
    files: ['value-kind', 'exact-number', 'write-value', 'masked-shape', 'rejection', 'exact-json'].map(encode),
    tests: [VALUES],
    aim: 95,
  },
  {
    files: ['written-value', 'ascii', 'date-from-database', 'copy-date', 'copy-value', 'conversion'].map(encode),
    tests: [VALUES],
    aim: 95,
  },
  {
    files: ['src/source/keyset-query.ts'],
    tests: ['test/source/keyset-query.test.ts'],
    aim: 90,
  },
  {
    files: ['src/source/page-reader.ts'],
    tests: ['test/source/page-reader.test.ts'],
    aim: 90,
  },
  {
    files: [
      ...inLedger('batches/', ['claims', 'in-flight-records', 'doubts', 'batches', 'close-batches']),
      ...inLedger('checkpoint/', ['checkpoint', 'write-counts', 'write-dead-letters', 'write-periods']),
      ...inLedger('waiting/', ['apply-outcomes', 'pending-entries', 'pending-until', 'waiting', 'write-entries']),
      ...inLedger('changes/', ['changed-rows', 'feeds', 'feed-states', 'left-to-load']),
      ...inLedger('record-index/', ['covering-blocks', 'forget-records', 'scan-records']),
      ...inLedger('runs/', ['partitions', 'runs', 'guards']),
      ...inLedger('', ['removals', 'known-records', 'dead-letters']),
    ],
    tests: LEDGER,
    aim: 90,
    sql: true,
  },
  {
    files: inDelivery('upload', ['batch-status', 'not-stored', 'outcome', 'proven-outcomes', 'settle-batch']),
    tests: ['test/delivery/{batch-status,settle-batch,settled-children,settled-records,warn-once}.test.ts'],
    aim: 90,
  },
  {
    files: [
      ...inDelivery('parents', ['decide-retry', 'parent-graph', 'retry-delay']),
      ...inDelivery('upload', ['platform-message']),
      ...inDelivery('small-tenants', ['small-tenants']),
    ],
    tests: ['test/delivery/{decide-retry,parent-graph,platform-message,long-messages,small-tenants}.test.ts'],
    aim: 90,
  },
  {
    files: ['read-chunks', 'chunk-builder', 'page-size', 'read-mapped-pages', 'reading-order'].map(
      (name) => `src/reading/${name}.ts`,
    ),
    tests: ['test/reading/read-chunks.test.ts'],
    aim: 90,
  },
  // Each by itself: a run of several takes long, and keeps nothing if it is ended.
  ...inLedger('batches/', ['claims', 'in-flight-records', 'doubts', 'batches']).map((file) => ({
    files: [file],
    tests: LEDGER,
    aim: 90,
    servers: true,
  })),
  { files: inDelivery('upload', ['dependency-wait']), tests: DELIVERY, aim: 90, servers: true },
];

/** What matters as much, and why it is not tried. */
export const NOT_MEASURED = [
  ['src/delivery/refusals.ts', 'only holds values: nothing in it decides'],
  ['src/delivery, apart from the files above', 'is tested with a real source, ledger or Temporal server only'],
  ['src/ledger, apart from the files and the SQL above', 'is tested on a real PostgreSQL only'],
];
